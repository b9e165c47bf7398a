#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <libdnn/formats/atomic_file.h>

namespace dnn {

// Writes a zip archive of stored entries (PKWARE's APPNOTE.TXT), one after the other, without a date: the same content
// gives the same bytes. Data begins at multiples of 64 bytes, as in PyTorch's files, so that it can be mapped. No more
// than 65,535 entries and 4 GiB; Error where there are.
class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path) : path_(path), file_(path) {}

  void add(const std::string& name, const void* data, size_t bytes);
  void commit();  // writes the directory; the file appears under its name

 private:
  struct Entry {
    std::string name;
    uint32_t checksum, size, offset;
  };
  void write(const std::string& bytes);

  std::string path_;
  AtomicFile file_;
  std::vector<Entry> entries_;
  uint64_t at_ = 0;
};

}  // namespace dnn
