#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include <libdnn/data/dataset.h>
#include <libdnn/data/idx.h>

#include "../files.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

std::string word(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string pictures(int count, int promised) {
  return word(0x803) + word(static_cast<uint32_t>(promised)) + word(2) + word(3) +
         std::string(static_cast<size_t>(count) * 6, 'x');
}

std::string labels(int count) {
  return word(0x801) + word(static_cast<uint32_t>(count)) + std::string(static_cast<size_t>(count), 4);
}

std::string refusal(const std::string& content) {
  const TemporaryFolder folder;
  const std::string path = folder.write("some-file", content);
  try {
    read_idx(path, 3);
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains(path));
    return error.what();
  }
  return "accepted";
}

TEST_CASE("idx: a small file, plain", "[idx]") {
  const TemporaryFolder folder;
  const IdxArray array = read_idx(folder.write("a", pictures(2, 2)), 3);
  CHECK(array.sizes == std::vector<int>{2, 2, 3});
  CHECK(array.values == std::vector<uint8_t>(12, 'x'));
}

TEST_CASE("idx: what is no such file is refused by name", "[idx]") {
  CHECK_THAT(refusal(""), Contains("header"));
  CHECK_THAT(refusal(word(0x803) + word(2)), Contains("header"));
  CHECK_THAT(refusal(labels(3)), Contains("magic number 0x00000801"));
  CHECK_THAT(refusal(pictures(1, 2)), Contains("promises 12 values; got 6"));
  CHECK_THAT(refusal(pictures(3, 2)), Contains("longer"));
  CHECK_THAT(refusal(word(0x803) + word(0xFFFFFFFF) + word(0xFFFFFFFF) + word(0xFFFFFFFF)), Contains("4294967295"));
  CHECK_THAT(refusal(word(0x803) + word(0x7FFFFFFF) + word(0x7FFFFFFF) + word(0x7FFFFFFF)), Contains("promises"));
  CHECK_THAT(refusal(word(0x803) + word(0x7FFFFFFF) + word(0x7FFFFFFF) + word(1)), Contains("got 0"));
  CHECK_THROWS_WITH(read_idx("no/such/file", 3), Contains("no/such/file"));
  for (const int dims : {0, -1, 256}) {
    CHECK_THROWS_WITH(read_idx("any", dims), Contains("dimensions; got " + std::to_string(dims)));
  }
}

TEST_CASE("idx: a cut and a corrupt gzip", "[idx]") {
  std::ifstream file(source_path("data/mnist/t10k-images-idx3-ubyte.gz"), std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), {});
  REQUIRE(content.size() > 100000);
  // A gzip under a plain name is read.
  const TemporaryFolder folder;
  CHECK(read_idx(folder.write("plain-name", content), 3).sizes == std::vector<int>{10000, 28, 28});
  CHECK_THAT(refusal(content.substr(0, 100000)), Contains("damaged or cut"));
  for (size_t i = 50000; i < 50100; ++i) content[i] = static_cast<char>(content[i] ^ 0x5a);
  CHECK_THAT(refusal(content), Contains("damaged"));
}

TEST_CASE("mnist: the real files", "[mnist]") {
  const std::string folder = source_path("data/mnist");
  const ImageDataset test = load_mnist(folder, MnistPart::test);
  CHECK(test.images.shape() == Shape{10000, 28, 28, 1});
  CHECK(test.classes == 10);
  const std::vector<int32_t> labels = test.labels.to_vector<int32_t>();
  CHECK(std::vector<int32_t>(labels.begin(), labels.begin() + 5) == std::vector<int32_t>{7, 2, 1, 0, 4});
  CHECK(load_mnist(folder, MnistPart::train).size() == 60000);
  CHECK(test.first(7).labels.to_vector<int32_t>() == std::vector<int32_t>(labels.begin(), labels.begin() + 7));
}

TEST_CASE("mnist: files that don't fit each other", "[mnist]") {
  const TemporaryFolder folder;
  folder.write("t10k-images-idx3-ubyte", pictures(2, 2));
  CHECK_THROWS_WITH(load_mnist(folder.path(), MnistPart::test), Contains("t10k-labels-idx1-ubyte"));
  folder.write("t10k-labels-idx1-ubyte", labels(3));
  CHECK_THROWS_WITH(load_mnist(folder.path(), MnistPart::test), Contains("2 pictures") && Contains("3 labels"));
  folder.write("t10k-labels-idx1-ubyte", word(0x801) + word(2) + std::string("\x01\x0b", 2));
  CHECK_THROWS_WITH(load_mnist(folder.path(), MnistPart::test), Contains("label 11 of sample 1"));
  folder.write("t10k-labels-idx1-ubyte", labels(2));
  CHECK(load_mnist(folder.path(), MnistPart::test).images.shape() == Shape{2, 2, 3, 1});
}

}  // namespace
}  // namespace dnn
