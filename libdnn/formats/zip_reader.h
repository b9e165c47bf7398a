#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct zip;
struct zip_file;

namespace dnn {

// A zip archive of stored entries, as PyTorch writes them, and of deflated ones, as it also reads them. The constructor
// refuses other compression and encryption, names that come twice, and sizes that the file's bytes can't give: a
// deflated byte gives at most 1,032. `where` begins the messages of errors: "[read_pth] FILE".
class ZipReader {
 public:
  ZipReader(const std::string& path, const std::string& where);

  struct Entry {
    std::string name;
    int64_t size;
    bool deflated;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  int64_t find(std::string_view name) const;  // its number; -1 where there is none
  int64_t deflated_bytes() const;             // the sizes of the deflated entries, inflated

  // `bytes` bytes of an entry, from `offset` on. The checksum is compared where that is the whole entry. A deflated
  // entry of which parts are read is inflated once and kept.
  void read(int64_t entry, int64_t offset, int64_t bytes, void* to);

 private:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void damaged(const Entry& entry) const;
  void read_from_file(int64_t entry, int64_t offset, int64_t bytes, void* to) const;

  struct Close {
    void operator()(zip* archive) const;
    void operator()(zip_file* file) const;
  };
  std::string where_;
  std::unique_ptr<zip, Close> archive_;
  std::vector<Entry> entries_;  // by number
  std::map<std::string, int64_t, std::less<>> numbers_;
  std::map<int64_t, std::string> inflated_;
};

}  // namespace dnn
