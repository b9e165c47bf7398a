#include <libdnn/formats/zip_reader.h>

#include <fmt/format.h>
#include <zip.h>

#include <cstring>
#include <filesystem>
#include <system_error>

#include <kernels/error.h>
#include <libdnn/formats/printable.h>

namespace dnn {
namespace {

constexpr zip_uint64_t kMaxDeflateRatio = 1032;  // 258 bytes for two bits

}  // namespace

// Nothing was changed, so there is nothing to write.
void ZipReader::Close::operator()(zip* archive) const { zip_discard(archive); }
void ZipReader::Close::operator()(zip_file* file) const { zip_fclose(file); }

void ZipReader::fail(const std::string& what) const { throw Error(fmt::format("{}: {}", where_, what)); }
void ZipReader::damaged(const Entry& entry) const { fail(fmt::format("'{}' is damaged", printable(entry.name))); }

ZipReader::ZipReader(const std::string& path, const std::string& where) : where_(where) {
  archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, nullptr));
  if (!archive_) fail("is cut off, or no zip archive");
  std::error_code error;
  const uintmax_t file_size = std::filesystem::file_size(path, error);
  if (error) fail(error.message());

  uintmax_t left = file_size;  // for the entries to come
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t info;
    constexpr zip_uint64_t kNeeded =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(i), 0, &info) != 0 ||
        (info.valid & kNeeded) != kNeeded) {
      fail(fmt::format("entry {} of the zip archive is not described", i));
    }
    const bool deflated = info.comp_method == ZIP_CM_DEFLATE;
    if ((info.comp_method != ZIP_CM_STORE && !deflated) || info.encryption_method != ZIP_EM_NONE) {
      fail(fmt::format("'{}' is encrypted, or compressed by another method than deflate", printable(info.name)));
    }
    if (info.comp_size > left) fail("has entries of more bytes than the file");
    left -= info.comp_size;
    if (deflated ? info.size > kMaxDeflateRatio * info.comp_size : info.size != info.comp_size) {
      fail(fmt::format("'{}' cannot have {} bytes; the file has {} for it", printable(info.name), info.size,
                       info.comp_size));
    }
    entries_.push_back({info.name, static_cast<int64_t>(info.size), deflated});
    if (!numbers_.emplace(info.name, i).second) fail(fmt::format("has '{}' twice", printable(info.name)));
  }
}

int64_t ZipReader::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? -1 : found->second;
}

int64_t ZipReader::deflated_bytes() const {
  int64_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.deflated ? entry.size : 0;
  return bytes;
}

void ZipReader::read(int64_t entry, int64_t offset, int64_t bytes, void* to) {
  const Entry& wanted = entries_[static_cast<size_t>(entry)];
  if (!wanted.deflated || bytes == wanted.size) return read_from_file(entry, offset, bytes, to);
  auto found = inflated_.find(entry);
  if (found == inflated_.end()) {
    std::string content(static_cast<size_t>(wanted.size), '\0');
    read_from_file(entry, 0, wanted.size, content.data());
    found = inflated_.emplace(entry, std::move(content)).first;
  }
  std::memcpy(to, found->second.data() + offset, static_cast<size_t>(bytes));
}

void ZipReader::read_from_file(int64_t entry, int64_t offset, int64_t bytes, void* to) const {
  const Entry& wanted = entries_[static_cast<size_t>(entry)];
  const std::unique_ptr<zip_file, Close> file(zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(entry), 0));
  if (!file || (offset > 0 && zip_fseek(file.get(), offset, SEEK_SET) != 0)) damaged(wanted);

  char* next = static_cast<char*>(to);
  for (int64_t left = bytes; left > 0;) {
    const zip_int64_t got = zip_fread(file.get(), next, static_cast<zip_uint64_t>(left));
    if (got <= 0) damaged(wanted);
    next += got;
    left -= got;
  }
  // The checksum is compared at the end of the entry, which shows when one reads past it.
  char more = 0;
  if (offset == 0 && bytes == wanted.size && zip_fread(file.get(), &more, 1) != 0) damaged(wanted);
}

}  // namespace dnn
