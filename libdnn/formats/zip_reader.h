#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct zip;

namespace dnn {

// A zip archive of stored entries, as PyTorch writes them. The constructor refuses compressed or encrypted entries,
// names that come twice, and sizes beyond the file's. `where` begins the messages of errors: "[read_pth] FILE".
class ZipReader {
 public:
  ZipReader(const std::string& path, const std::string& where);

  struct Entry {
    std::string name;
    int64_t size;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  int64_t find(std::string_view name) const;  // its number; -1 where there is none

  // `bytes` bytes of an entry, from `offset` on. The checksum is compared where that is the whole entry.
  void read(int64_t entry, int64_t offset, int64_t bytes, void* to) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;

  struct Close {
    void operator()(zip* archive) const;
  };
  std::string where_;
  std::unique_ptr<zip, Close> archive_;
  std::vector<Entry> entries_;  // by number
  std::map<std::string, int64_t, std::less<>> numbers_;
};

}  // namespace dnn
