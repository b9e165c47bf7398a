#include <catch2/catch.hpp>

#include <cmath>
#include <iterator>
#include <limits>

#include <libdnn/formats/pth.h>

#include "../files.h"

// tests/data/*.pth were written by PyTorch 2.15.
namespace dnn {
namespace {

using Catch::Matchers::Contains;
using Floats = std::vector<float>;

std::string data_file(const std::string& name) { return source_path("tests/data/" + name + ".pth"); }

Floats counted(int first, int count) {  // as the parameters of the net in the files are
  Floats values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(100 * first + i) / 8);
  return values;
}

Tensor at(const NamedTensors& tensors, const std::string& name) {
  for (const NamedTensor& t : tensors) {
    if (t.name == name) return t.tensor;
  }
  FAIL("no tensor " << name);
  return {};
}

void check_net(const NamedTensors& tensors, const std::string& prefix) {
  const std::vector<std::string> names{
      "conv.weight", "conv.bias", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var", "bn.num_batches_tracked",
      "fc.weight",   "fc.bias"};
  REQUIRE(tensors.size() == names.size());
  for (size_t i = 0; i < names.size(); ++i) CHECK(tensors[i].name == prefix + names[i]);
  CHECK(tensors[0].tensor.shape() == Shape{2, 3, 2, 1});
  CHECK(tensors[0].tensor.to_vector<float>() == counted(0, 12));
  CHECK(tensors[3].tensor.to_vector<float>() == counted(3, 2));
  CHECK(tensors[4].tensor.to_vector<float>() == Floats{-1, 2.5f});
  CHECK(tensors[5].tensor.to_vector<float>() == Floats{.5f, 3});
  CHECK(tensors[6].tensor.shape() == Shape{});
  CHECK(tensors[6].tensor.to_vector<int64_t>() == std::vector<int64_t>{7});
  CHECK(tensors[7].tensor.shape() == Shape{2, 4});
  CHECK(tensors[8].tensor.to_vector<float>() == counted(5, 2));
}

TEST_CASE("pth: a net in every protocol and in both forms", "[pth]") {
  for (const char* name :
       {"net_protocol2", "net_protocol3", "net_protocol4", "net_protocol5", "net_legacy2", "net_legacy4"}) {
    INFO(name);
    check_net(read_pth(data_file(name)), "");
    CHECK(PthFile(data_file(name)).entered().empty());
  }
}

TEST_CASE("pth: a checkpoint is entered", "[pth]") {
  check_net(read_pth(data_file("checkpoint")), "module.");
  CHECK(PthFile(data_file("checkpoint")).entered() == "state_dict");
  check_net(read_pth(data_file("checkpoint_beside")), "module.");  // a tensor stands beside it
  CHECK(PthFile(data_file("checkpoint_beside")).entered() == "state_dict");
}

TEST_CASE("pth: parameters, which are no plain tensors, under model", "[pth]") {
  const NamedTensors tensors = read_pth(data_file("parameters"));
  CHECK(PthFile(data_file("parameters")).entered() == "model");
  REQUIRE(tensors.size() == 6);
  CHECK(tensors[4].name == "fc.weight");
  CHECK(tensors[4].tensor.to_vector<float>() == counted(4, 8));
}

TEST_CASE("pth: views of one storage", "[pth]") {
  for (const char* name : {"views", "views_legacy"}) {
    INFO(name);
    const NamedTensors tensors = read_pth(data_file(name));
    Floats whole;
    for (int i = 0; i < 24; ++i) whole.push_back(static_cast<float>(i));
    CHECK(at(tensors, "whole").to_vector<float>() == whole);
    CHECK(at(tensors, "again").to_vector<float>() == whole);
    CHECK(at(tensors, "transposed").shape() == Shape{6, 4});
    CHECK(at(tensors, "transposed").to_vector<float>()[5] == 7);  // of row 1: 1, 7, 13, 19
    CHECK(at(tensors, "row").to_vector<float>() == Floats{12, 13, 14, 15, 16, 17});
    CHECK(at(tensors, "column").to_vector<float>() == Floats{1, 7, 13, 19});
    CHECK(at(tensors, "every_other").shape() == Shape{2, 2});
    CHECK(at(tensors, "every_other").to_vector<float>() == Floats{6, 9, 18, 21});
    CHECK(at(tensors, "last").shape() == Shape{});
    CHECK(at(tensors, "last").item() == 23);
    CHECK(at(tensors, "channels_last").shape() == Shape{1, 3, 2, 2});
    CHECK(at(tensors, "channels_last").to_vector<float>() == Floats(whole.begin(), whole.begin() + 12));
    CHECK(at(tensors, "half").to(DType::float32).to_vector<float>() == Floats{0, 3, 1, 4, 2, 5});
    CHECK(at(tensors, "none").shape() == Shape{0, 6});
  }
}

TEST_CASE("pth: types of elements", "[pth]") {
  PthFile file(data_file("types"));
  const auto read = [&](const char* name) { return file.read(*file.find(name)); };
  CHECK(read("float32").to_vector<float>() == Floats{1.5f, -1e30f});
  CHECK(read("float64").to_vector<double>() == std::vector<double>{1e-300, 2});
  CHECK(read("float16").dtype() == DType::float16);
  const Floats half = read("float16").to(DType::float32).to_vector<float>();
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(half == Floats{0, -0.0f, 1, -2.5f, 65504, 0x1p-14f, 0x1p-24f, infinity, -infinity, 0.333251953125f});
  CHECK(std::signbit(half[1]));
  CHECK(read("bfloat16").dtype() == DType::bfloat16);
  CHECK(read("bfloat16").to(DType::float32).to_vector<float>() == Floats{1, -2.5f, 0x1.c4p127f, infinity, 0.33203125f});
  CHECK(read("int64").to_vector<int64_t>() == std::vector<int64_t>{INT32_MAX, INT32_MIN, 7});
  CHECK(read("int32").to_vector<int32_t>() == std::vector<int32_t>{-5, 6});
  CHECK(read("uint8").to_vector<uint8_t>() == std::vector<uint8_t>{0, 255});
  CHECK(read("bool").to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(read("scalar").item() == 42);
  CHECK(read("empty").shape() == Shape{0, 4});
  CHECK_THROWS_WITH(read("int16"), Contains("'int16'") && Contains("got I16"));
  CHECK(read("wide").to_vector<int64_t>().back() == 1099511627776);
}

TEST_CASE("pth: a view that repeats elements is refused", "[pth]") {
  CHECK_THROWS_WITH(PthFile(data_file("expanded")), Contains("'a' repeats elements: it has 30, its storage 24"));
}

TEST_CASE("pth: deflated entries are read", "[pth]") { check_net(read_pth(data_file("deflated")), ""); }

TEST_CASE("pth: what is written is read, and the same again", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("all.pth"), again = folder.path("again.pth");
  const NamedTensors tensors{{"z.pictures", from_vector<uint8_t>({1, 2, 255}, {3})},
                             {"a.weight", tensor({1, -2.5f, 3, 4, 5, 6}, {2, 1, 3})},
                             {"double", from_vector<double>({1e-300}, {1}, "reference")},
                             {"labels", from_vector<int32_t>({-100, 7}, {2, 1})},
                             {"count", from_vector<int32_t>({-3}, {})},
                             {"scalar \"\xC3\xA9\"", tensor({42}, {})},
                             {"empty", tensor({}, {0, 4})},
                             {"half", from_vector<Float16>({-2.5f}, {1})},
                             {"brain", from_vector<BFloat16>({-2.5f}, {1})},
                             {"wide", from_vector<int64_t>({int64_t{1} << 60}, {1})},
                             {"mask", from_vector<bool>({true, false}, {2})}};
  write_pth(path, tensors, {"count"});
  const NamedTensors read = read_pth(path);
  REQUIRE(read.size() == tensors.size());
  for (size_t i = 0; i < read.size(); ++i) {
    INFO(tensors[i].name);
    CHECK(read[i].name == tensors[i].name);
    CHECK(read[i].tensor.shape() == tensors[i].tensor.shape());
    CHECK(read[i].tensor.dtype() == (tensors[i].name == "count" ? DType::int64 : tensors[i].tensor.dtype()));
  }
  CHECK(read[0].tensor.to_vector<uint8_t>() == std::vector<uint8_t>{1, 2, 255});
  CHECK(read[1].tensor.to_vector<float>() == Floats{1, -2.5f, 3, 4, 5, 6});
  CHECK(read[2].tensor.to_vector<double>() == std::vector<double>{1e-300});
  CHECK(read[3].tensor.to_vector<int32_t>() == std::vector<int32_t>{-100, 7});
  CHECK(read[4].tensor.to_vector<int64_t>() == std::vector<int64_t>{-3});
  CHECK(read[7].tensor.to_vector<Float16>() == std::vector<Float16>{-2.5f});
  CHECK(read[8].tensor.to_vector<BFloat16>() == std::vector<BFloat16>{-2.5f});
  CHECK(read[9].tensor.to_vector<int64_t>() == std::vector<int64_t>{int64_t{1} << 60});
  CHECK(read[10].tensor.to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(PthFile(path).find("count")->type == "I64");
  CHECK(PthFile(path).find("labels")->type == "I32");

  const auto content = [](const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(stream), {}};
  };
  write_pth(again, read, {"count"});
  CHECK(content(again) == content(path));
  write_pth(again, {});
  CHECK(read_pth(again).empty());
}

TEST_CASE("pth: PyTorch's files come back with the same bits", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("again.pth");
  for (const char* name : {"net_protocol2", "net_legacy2", "views", "checkpoint"}) {
    const NamedTensors before = read_pth(data_file(name));
    write_pth(path, before);
    const NamedTensors after = read_pth(path);
    REQUIRE(after.size() == before.size());
    for (size_t i = 0; i < before.size(); ++i) {
      CHECK(after[i].name == before[i].name);
      CHECK(after[i].tensor.shape() == before[i].tensor.shape());
      if (before[i].tensor.dtype() == DType::float32) {
        CHECK(after[i].tensor.to_vector<float>() == before[i].tensor.to_vector<float>());
      }
    }
  }
}

TEST_CASE("pth: a file that cannot be written leaves the old one and nothing else", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("kept.pth");
  write_pth(path, {{"w", tensor({1}, {1})}});
  CHECK_THROWS_WITH(write_pth(path, {{"w", tensor({1}, {1})}, {"w", tensor({1}, {1})}}), Contains("'w' again"));
  CHECK_THROWS_WITH(write_pth(path, {{"\xff", tensor({1}, {1})}}), Contains("UTF-8"));
  CHECK_THROWS_WITH(write_pth(path, {{"w", Tensor({1}, DType::float32, "meta")}}), Contains("meta"));
  CHECK(read_pth(path)[0].tensor.item() == 1);
  namespace fs = std::filesystem;
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  CHECK_THROWS_WITH(write_pth(folder.path("none/w.pth"), {}), Contains("none/w.pth") && Contains("No such file"));
}

}  // namespace
}  // namespace dnn
