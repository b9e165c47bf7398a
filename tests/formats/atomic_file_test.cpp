#include <catch2/catch.hpp>

#include <iterator>

#include <kernels/error.h>
#include <libdnn/formats/atomic_file.h>

#include "../files.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int64_t files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

TEST_CASE("atomic file: appears whole, with commit", "[formats]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("state", "old");
  AtomicFile file(path);
  file.write("ne", 2);
  file.write("w", 1);
  CHECK(content(path) == "old");
  file.commit();
  CHECK(content(path) == "new");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("atomic file: without commit nothing changes and nothing is left", "[formats]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("state", "old");
  {
    AtomicFile file(path);
    file.write("new", 3);
  }
  CHECK(content(path) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("atomic file: places that cannot be written are named", "[formats]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(AtomicFile(folder.path("none/state")), Contains("none/state cannot be created: No such file"));
  CHECK_THROWS_WITH(AtomicFile(folder.path()), Contains(folder.path()) && Contains("not a file that can be replaced"));
  CHECK_THROWS_WITH(AtomicFile("/dev/null"), Contains("/dev/null"));
}

}  // namespace
}  // namespace dnn
