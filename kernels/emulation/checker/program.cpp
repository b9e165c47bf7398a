#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "checker.h"

// Variables of the program and its libraries, from their symbols. C++ keeps neither __shared__ nor __constant__, so it
// goes by where a variable is declared: within a function it is shared memory (__shared__ is `static` here), outside
// and not visible to other sources a constant (__constant__ too), outside and visible the host's.
namespace emu::checker {
namespace {

struct Span {
  uintptr_t begin, end;
  bool contains(uintptr_t address) const { return begin <= address && address < end; }
};

struct Variable {
  uintptr_t begin;
  size_t bytes;
  bool local;
  const char* name;
};

struct LoadedProgram {
  std::string path;
  uintptr_t base = 0;
  std::vector<Span> constant, writable;
  bool has_variables = false;  // whether they have been read, if it has any
  std::vector<Variable> variables;
};

// A file that stays mapped, as the names of variables point into it.
struct MappedFile {
  const char* data = nullptr;
  size_t bytes = 0;

  explicit MappedFile(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0) return;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      void* const mapped = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED) {
        data = static_cast<const char*>(mapped);
        bytes = static_cast<size_t>(status.st_size);
      }
    }
    close(file);
  }
  template <class T>
  const T* at(size_t offset, size_t count = 1) const {
    return offset <= bytes && count <= (bytes - offset) / sizeof(T) ? reinterpret_cast<const T*>(data + offset)
                                                                    : nullptr;
  }
};

void read_variables(LoadedProgram& program) {
  program.has_variables = true;
  const MappedFile file(program.path.empty() ? "/proc/self/exe" : program.path.c_str());
  const auto* const header = file.at<ElfW(Ehdr)>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* const sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  if (!sections) return;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
    const size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
    const auto* const symbols = file.at<ElfW(Sym)>(sections[i].sh_offset, count);
    const char* const names = file.at<char>(sections[sections[i].sh_link].sh_offset);
    if (!symbols || !names) return;
    for (size_t k = 0; k < count; ++k) {
      const unsigned char info = symbols[k].st_info;  // laid out alike for 32 and 64 bits
      if (ELF64_ST_TYPE(info) != STT_OBJECT || symbols[k].st_size == 0 || symbols[k].st_shndx == SHN_UNDEF) continue;
      program.variables.push_back({program.base + symbols[k].st_value, symbols[k].st_size,
                                   ELF64_ST_BIND(info) == STB_LOCAL, names + symbols[k].st_name});
    }
  }
  std::sort(program.variables.begin(), program.variables.end(),
            [](const Variable& a, const Variable& b) { return a.begin < b.begin; });
}

std::vector<LoadedProgram> read_programs() {
  std::vector<LoadedProgram> programs;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* list) {
        LoadedProgram program;
        program.path = info->dlpi_name;
        program.base = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          const uintptr_t begin = program.base + part.p_vaddr;
          const bool read_only = part.p_type == PT_GNU_RELRO || (part.p_type == PT_LOAD && !(part.p_flags & PF_W));
          if (read_only) program.constant.push_back({begin, begin + part.p_memsz});
          if (part.p_type == PT_LOAD && part.p_flags & PF_W) program.writable.push_back({begin, begin + part.p_memsz});
        }
        static_cast<std::vector<LoadedProgram>*>(list)->push_back(std::move(program));
        return 0;
      },
      &programs);
  return programs;
}

bool is_in(const std::vector<Span>& spans, uintptr_t address) {
  return std::any_of(spans.begin(), spans.end(), [address](const Span& span) { return span.contains(address); });
}

LoadedProgram* find_program(uintptr_t address) {
  static auto& programs = *new std::vector<LoadedProgram>;
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (LoadedProgram& program : programs) {
      if (is_in(program.constant, address) || is_in(program.writable, address)) return &program;
    }
    if (attempt == 0) programs = read_programs();  // a library may have been loaded since
  }
  return nullptr;
}

// "buffer" of "scale(float*)::buffer".
std::string short_name(const char* mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = text ? text : mangled;
  std::free(text);
  const size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

}  // namespace

ProgramVariable find_program_variable(uintptr_t address) {
  using Kind = ProgramVariable::Kind;
  LoadedProgram* const program = find_program(address);
  if (!program) return {};
  if (is_in(program->constant, address)) return {Kind::constant, address, 1, "of the program"};
  if (!program->has_variables) read_variables(*program);
  const std::vector<Variable>& variables = program->variables;
  const auto above = std::upper_bound(variables.begin(), variables.end(), address,
                                      [](uintptr_t at, const Variable& variable) { return at < variable.begin; });
  if (above == variables.begin()) return {};
  const Variable& variable = *std::prev(above);
  if (address - variable.begin >= variable.bytes) return {};
  const bool in_function = std::strncmp(variable.name, "_ZZ", 3) == 0;
  const Kind kind = in_function ? Kind::shared : variable.local ? Kind::constant : Kind::host;
  return {kind, variable.begin, variable.bytes, short_name(variable.name)};
}

}  // namespace emu::checker
