#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>

#include "state.h"
#include "symbols.h"

// File and line of an address, from addr2line. One process for each file of code is kept, as its start is what takes
// time.
namespace emu {
namespace {

constexpr const char* kEnd = "0xffffffffffffffff";  // asked after each address, to see where its answer ends

struct Process {
  int questions = -1;  // a socket: a pipe would end the program once the process at its other end is gone
  std::FILE* answers = nullptr;
};

bool spawn(const std::string& path, int end) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, end, 0);
  posix_spawn_file_actions_adddup2(&actions, end, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  // A child would find itself under /proc/self.
  char* const real_path = realpath(path.c_str(), nullptr);
  const std::string file = real_path ? real_path : path;
  std::free(real_path);
  const char* const arguments[] = {"addr2line", "-a", "-i", "-e", file.c_str(), nullptr};
  pid_t child;
  const int failed = posix_spawnp(&child, "addr2line", &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0;
}

Process start(const std::string& path) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const bool started = spawn(path, ends[1]);
  close(ends[1]);
  if (started) return {ends[0], fdopen(ends[0], "r")};
  close(ends[0]);
  return {};
}

bool read_line(std::FILE* file, std::string& line) {
  line.clear();
  for (int c; (c = std::fgetc(file)) != EOF && c != '\n';) line += static_cast<char>(c);
  return !std::feof(file);
}

bool is_models_header(const std::string& file) { return file.find("/include/emulation/") != std::string::npos; }

// "file:line", perhaps with " (discriminator 2)" behind.
SourceLine parse(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || text[0] == '?') return {};
  return {text.substr(0, colon), std::atoi(text.c_str() + colon + 1)};
}

// The innermost of the functions that were inlined there which is not the model's; else the innermost.
SourceLine ask(const Process& process, uintptr_t address) {
  char question[64];
  const int length = std::snprintf(question, sizeof question, "0x%zx\n%s\n", static_cast<size_t>(address), kEnd);
  SourceLine result;
  if (send(process.questions, question, static_cast<size_t>(length), MSG_NOSIGNAL) != length) return result;
  std::string line;
  if (!read_line(process.answers, line)) return result;  // the address again
  while (read_line(process.answers, line) && line != kEnd) {
    const SourceLine place = parse(line);
    if (place.line != 0 && (result.line == 0 || is_models_header(result.file))) result = place;
  }
  read_line(process.answers, line);  // "??:0", of kEnd
  return result;
}

}  // namespace

SourceLine source_line(uintptr_t code_address) {
  const std::lock_guard lock(model_mutex());
  static auto& known = *new std::unordered_map<uintptr_t, SourceLine>;
  static auto& processes = *new std::map<std::string, Process>;
  if (const auto found = known.find(code_address); found != known.end()) return found->second;
  const LoadedFile place = loaded_file(code_address);
  if (place.path.empty()) return {};
  auto process = processes.find(place.path);
  if (process == processes.end()) process = processes.emplace(place.path, start(place.path)).first;
  const SourceLine result = process->second.answers ? ask(process->second, place.address) : SourceLine{};
  known.emplace(code_address, result);
  return result;
}

std::string source_place(uintptr_t code_address) {
  const SourceLine place = source_line(code_address);
  if (place.line != 0) return place.file + ":" + std::to_string(place.line);
  char text[32];
  std::snprintf(text, sizeof text, "code at 0x%zx", static_cast<size_t>(code_address));
  return text;
}

}  // namespace emu
