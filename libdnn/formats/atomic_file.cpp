#include <libdnn/formats/atomic_file.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <kernels/error.h>

namespace dnn {
namespace {

std::string temporary_name(const std::string& path) {
  static std::atomic<int> counter{0};
  return fmt::format("{}.{}-{}.tmp", path, getpid(), counter++);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Brings a rename in the folder to the disk, where the file system can.
void sync_folder(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), temporary_(temporary_name(path)) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    throw Error(fmt::format("[write] {} is not a file that can be replaced", path));
  }
  file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) fail("cannot be created");
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* what) const {
  throw Error(fmt::format("[write] {} {}: {}", path_, what, std::strerror(errno)));
}

void AtomicFile::write(const void* data, size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file_, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    from += written;
    bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  if (fsync(file_) != 0) fail("cannot be brought to the disk");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed to");
  close(std::exchange(file_, -1));
  sync_folder(folder_of(path_));
}

}  // namespace dnn
