#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

#include "../files.h"
#include "readers.h"

namespace dnn::fuzz {
namespace {

struct Reader {
  const char* name;
  void (*read)(const std::string& bytes);
};
constexpr Reader kReaders[] = {{"image", image},
                               {"npy", npy},
                               {"pickle", pickle},
                               {"pth", pth},
                               {"safetensors", safetensors},
                               {"tensor_proto", tensor_proto}};

namespace fs = std::filesystem;

TEST_CASE("fuzz: each reader takes every file of its corpus", "[fuzz]") {
  int64_t folders = std::distance(fs::directory_iterator(source_path("tests/fuzz/corpus")), fs::directory_iterator());
  CHECK(folders == static_cast<int64_t>(std::size(kReaders)));
  for (const Reader& reader : kReaders) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(source_path("tests/fuzz/corpus/" + std::string(reader.name)))) {
      files.push_back(entry.path().string());
    }
    CHECK_FALSE(files.empty());
    std::sort(files.begin(), files.end());
    for (const std::string& path : files) {
      INFO(path);
      std::ifstream file(path, std::ios::binary);
      reader.read({std::istreambuf_iterator<char>(file), {}});
    }
  }
}

}  // namespace
}  // namespace dnn::fuzz
