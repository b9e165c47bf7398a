#include <libdnn/formats/zip_reader.h>

#include <fmt/format.h>
#include <zip.h>

#include <filesystem>
#include <system_error>

#include <kernels/error.h>
#include <libdnn/formats/printable.h>

namespace dnn {
namespace {

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

}  // namespace

// Nothing was changed, so there is nothing to write.
void ZipReader::Close::operator()(zip* archive) const { zip_discard(archive); }

void ZipReader::fail(const std::string& what) const { throw Error(fmt::format("{}: {}", where_, what)); }

ZipReader::ZipReader(const std::string& path, const std::string& where) : where_(where) {
  int code = 0;
  archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive_) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail(fmt::format("is cut off or no zip archive: {}", text));
  }
  std::error_code error;
  const uintmax_t file_size = std::filesystem::file_size(path, error);
  if (error) fail(error.message());

  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t info;
    constexpr zip_uint64_t kNeeded =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(i), 0, &info) != 0 ||
        (info.valid & kNeeded) != kNeeded) {
      fail(fmt::format("entry {} of the zip archive is not described", i));
    }
    if (info.comp_method != ZIP_CM_STORE || info.encryption_method != ZIP_EM_NONE) {
      fail(fmt::format("entry '{}' is compressed or encrypted; PyTorch stores it as it is", printable(info.name)));
    }
    if (info.size != info.comp_size || info.size > file_size) {
      fail(fmt::format("entry '{}' cannot have {} bytes", printable(info.name), info.size));
    }
    entries_.push_back({info.name, static_cast<int64_t>(info.size)});
    if (!numbers_.emplace(info.name, i).second) fail(fmt::format("has '{}' twice", printable(info.name)));
  }
}

int64_t ZipReader::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? -1 : found->second;
}

void ZipReader::read(int64_t entry, int64_t offset, int64_t bytes, void* to) const {
  const Entry& wanted = entries_[static_cast<size_t>(entry)];
  const auto wrong = [&](const char* what) { fail(fmt::format("entry '{}' {}", printable(wanted.name), what)); };
  const std::unique_ptr<zip_file_t, CloseFile> file(
      zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(entry), 0));
  if (!file) wrong(zip_strerror(archive_.get()));
  if (offset > 0 && zip_fseek(file.get(), offset, SEEK_SET) != 0) wrong(zip_file_strerror(file.get()));

  char* next = static_cast<char*>(to);
  for (int64_t left = bytes; left > 0;) {
    const zip_int64_t got = zip_fread(file.get(), next, static_cast<zip_uint64_t>(left));
    if (got < 0) wrong(zip_file_strerror(file.get()));
    if (got == 0) wrong("ends too early");
    next += got;
    left -= got;
  }
  // The checksum is compared at the end of the entry, which shows when one reads past it.
  char more = 0;
  if (offset == 0 && bytes == wanted.size && zip_fread(file.get(), &more, 1) != 0) {
    wrong(fmt::format("is damaged: {}", zip_file_strerror(file.get())).c_str());
  }
}

}  // namespace dnn
