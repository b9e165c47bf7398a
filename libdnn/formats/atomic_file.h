#pragma once
#include <cstddef>
#include <string>

namespace dnn {

// A file that appears under its name whole or not at all: bytes go to a temporary file in the same folder, commit()
// brings them to the disk and renames it. Without commit() nothing is left and a file that was there stays. Faults
// throw Error with the file's name.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::string temporary_;
  int file_ = -1;
};

}  // namespace dnn
