#include <catch2/catch.hpp>

#include <libdnn/formats/weights.h>
#include <libdnn/layers/layers.h>

#include "../files.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using Names = std::vector<std::string>;

Sequential small_net() {
  Sequential net;
  net.add("conv", Conv2d({.in_channels = 3, .out_channels = 2, .kernel_size = {2, 1}}));
  net.add("fc", Linear(4, 2));
  return net;
}

TEST_CASE("weights: KCRS to KRSC by hand, and back", "[weights]") {
  // k 2, c 3, r 1, s 2: the value is k c s
  const Tensor file = tensor({0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}, {2, 3, 1, 2});
  const Tensor memory = kcrs_to_krsc(file);
  CHECK(memory.shape() == Shape{2, 1, 2, 3});
  CHECK(memory.to_vector<float>() == std::vector<float>{0, 10, 20, 1, 11, 21, 100, 110, 120, 101, 111, 121});
  CHECK(krsc_to_kcrs(memory).shape() == file.shape());
  CHECK(krsc_to_kcrs(memory).to_vector<float>() == file.to_vector<float>());
  const Tensor exact = from_vector<double>({1, 2, 3, 4}, {1, 2, 2, 1}, "reference");
  CHECK(kcrs_to_krsc(exact).to_vector<double>() == std::vector<double>{1, 3, 2, 4});
  CHECK(kcrs_to_krsc(exact).device().name() == "reference");
  CHECK(kcrs_to_krsc(Tensor({0, 3, 2, 2})).shape() == Shape{0, 2, 2, 3});
  CHECK_THROWS_WITH(kcrs_to_krsc(tensor({1}, {1})), Contains("4 dimensions; got (1)"));
  CHECK_THROWS_WITH(kcrs_to_krsc(Tensor({1, 1, 1, 1}, DType::int32)), Contains("int32"));
}

TEST_CASE("weights: a transposed convolution's weight is (C, K / groups, R, S) in files", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("net.safetensors");
  ConvTranspose2d conv({.in_channels = 4, .out_channels = 6, .kernel_size = {1, 2}, .groups = 2, .bias = false});
  save_weights(conv, path);
  SafetensorsFile file(path);
  REQUIRE(file.entries().size() == 1);
  CHECK(file.entries()[0].shape == std::vector<int64_t>{4, 3, 1, 2});
  CHECK(kcrs_to_krsc(file.read(file.entries()[0])).to_vector<float>() == conv.parameter("weight").to_vector<float>());
}

TEST_CASE("weights: saved and loaded, from any device to any", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("net.safetensors");
  Sequential net = small_net();
  net.to("reference");
  save_weights(net, path, {{"step", "3"}});

  SafetensorsFile file(path);
  CHECK(file.metadata() == Metadata{{"format", "pt"}, {"step", "3"}});
  REQUIRE(file.entries().size() == 4);
  CHECK(file.entries()[0].name == "conv.weight");
  CHECK(file.entries()[0].shape == std::vector<int64_t>{2, 3, 2, 1});
  CHECK(file.entries()[3].name == "fc.bias");

  Sequential other = small_net();
  const LoadReport report = load_weights(other, path);
  CHECK(report.loaded == Names{"conv.weight", "conv.bias", "fc.weight", "fc.bias"});
  CHECK(report.unused.empty());
  CHECK(report.missing.empty());
  for (size_t i = 0; i < 4; ++i) {
    CHECK(other.parameters()[i].to_vector<float>() == net.parameters()[i].to_vector<float>());
  }
}

TEST_CASE("weights: the report names what is unused and missing", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("net.safetensors");
  Sequential more = small_net();
  more.add("extra", Linear(2, 2));
  Sequential less;
  less.add("fc", Linear(4, 2));
  less.add("head", Linear({.in_features = 2, .out_features = 1, .bias = false}));
  const std::vector<float> head = less.parameters()[2].to_vector<float>();
  save_weights(more, path);
  const LoadReport report = load_weights(less, path);
  CHECK(report.loaded == Names{"fc.weight", "fc.bias"});
  CHECK(report.unused == Names{"conv.weight", "conv.bias", "extra.weight", "extra.bias"});
  CHECK(report.missing == Names{"head.weight"});
  CHECK(less.parameters()[2].to_vector<float>() == head);
}

TEST_CASE("weights: what doesn't fit changes nothing", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("net.safetensors");
  Sequential wide;
  wide.add("conv", Conv2d({.in_channels = 3, .out_channels = 2, .kernel_size = {2, 1}}));
  wide.add("fc", Linear(5, 2));
  save_weights(wide, path);
  Sequential net = small_net();
  const std::vector<float> before = net.parameters()[0].to_vector<float>();
  CHECK_THROWS_WITH(load_weights(net, path),
                    Contains("fc.weight needs (2, 4)") && Contains("has (2, 5)") && Contains(path));
  CHECK(net.parameters()[0].to_vector<float>() == before);

  // (K, C, R, S) that has our sizes in our order is not taken for right
  Sequential turned;
  turned.add("conv", Conv2d({.in_channels = 2, .out_channels = 2, .kernel_size = {1, 3}}));
  save_weights(turned, path);
  CHECK_THROWS_WITH(load_weights(net, path), Contains("conv.weight needs (2, 3, 2, 1)") && Contains("(2, 2, 1, 3)"));

  write_safetensors(path, {{"fc.bias", from_vector<double>({1, 2}, {2}, "reference")}});
  CHECK_THROWS_WITH(load_weights(net, path), Contains("fc.bias needs float32") && Contains("F64"));
}

}  // namespace
}  // namespace dnn
