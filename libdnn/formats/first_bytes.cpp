#include <libdnn/formats/first_bytes.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <kernels/error.h>

namespace dnn {
namespace {

struct StandIn {
  std::string_view begin;
  const char* what;
};
constexpr const char* kHtml = "is an HTML page; download the file itself";
constexpr StandIn kStandIns[] = {
    {"version https://git-lfs", "is a Git LFS pointer; run `git lfs pull` in its repository to fetch the file"},
    {"<!DOCTYPE", kHtml},
    {"<!doctype", kHtml},
    {"<html", kHtml},
};

}  // namespace

std::string first_bytes(const std::string& path, const std::string& where) {
  const auto fail = [&](const std::string& what) { throw Error(fmt::format("{} {}", where, what)); };
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("{}: {}", where, std::strerror(errno)));
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("is a folder");
  std::string bytes(64, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad()) fail("cannot be read");
  bytes.resize(static_cast<size_t>(file.gcount()));
  if (bytes.empty()) fail("is empty");
  for (const StandIn& stand_in : kStandIns) {
    if (bytes.starts_with(stand_in.begin)) fail(stand_in.what);
  }
  return bytes;
}

}  // namespace dnn
