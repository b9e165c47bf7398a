#include <catch2/catch.hpp>
#include <filesystem>

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

// With the parts of the net in tests/data, its batch norm as buffers only.
struct BatchNormLike : Module {
  BatchNormLike() {
    for (const char* name : {"weight", "bias", "running_mean", "running_var"}) add_buffer(name, zeros({2}));
    add_buffer("num_batches_tracked", zeros({}, DType::int32));
  }
  Tensor forward(const Tensor& x) override { return x; }
  std::shared_ptr<Module> clone() const override { return std::make_shared<BatchNormLike>(*this); }
};

Sequential net_with_norm() {
  Sequential net;
  net.add("conv", Conv2d({.in_channels = 3, .out_channels = 2, .kernel_size = {2, 1}}));
  net.add("bn", BatchNormLike());
  net.add("fc", Linear(4, 2));
  return net;
}

const char* const kFiles[] = {"net_protocol2", "net_protocol5", "net_legacy2", "checkpoint"};

std::string data_file(const std::string& name) { return source_path("tests/data/" + name + ".pth"); }

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
  const LoadReport report = load_matching_weights(less, path);
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

  NamedTensors tensors = small_net().named_tensors();
  for (NamedTensor& t : tensors) {
    if (t.tensor.dims() == 4) t.tensor = krsc_to_kcrs(t.tensor);
    if (t.name == "fc.bias") t.tensor = from_vector<int32_t>({1, 2}, {2}, "reference");
  }
  write_safetensors(path, tensors);
  CHECK_THROWS_WITH(load_weights(net, path), Contains("fc.bias needs float32") && Contains("I32"));
}

TEST_CASE("weights: float64 is rounded, float32 widened", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("w.safetensors");
  write_safetensors(path, {{"fc.bias", from_vector<double>({0.1, 1 + 1e-9}, {2}, "reference")}});
  const Sequential net = small_net();
  CHECK(load_matching_weights(net, path).loaded == Names{"fc.bias"});
  CHECK(net.child("fc").parameter("bias").to_vector<float>() == std::vector<float>{0.1f, 1});
  CHECK(to_float_type(tensor({0.1f}, {1}), DType::float64).to_vector<double>() == std::vector<double>{double{0.1f}});
  const Tensor labels = from_vector<int32_t>({1}, {1});
  CHECK(to_float_type(labels, DType::float32).impl() == labels.impl());
}

TEST_CASE("weights: halves and integers of a file become the module's types", "[weights]") {
  struct Buffers : Module {
    Buffers() {
      add_parameter("weight", ones({1, 2, 1, 2}));
      add_buffer("narrow", zeros({2}, DType::int32));
      add_buffer("wide", zeros({2}, DType::int64));
      add_buffer("mask", zeros({2}, DType::uint8));
    }
    Tensor forward(const Tensor& x) override { return x; }
  };
  const TemporaryFolder folder;
  for (const char* name : {"w.safetensors", "w.pth"}) {
    const std::string path = folder.path(name);
    const auto write = [&](const NamedTensors& tensors) {
      path.ends_with(".pth") ? write_pth(path, tensors) : write_safetensors(path, tensors);
    };
    const Tensor truth = from_vector<bool>({true, false}, {2});
    for (const DType half : {DType::float16, DType::bfloat16}) {
      const Buffers module;
      write({{"weight", tensor({1, 2, 3, 4}, {1, 2, 2, 1}).to(half)},
             {"narrow", from_vector<int64_t>({INT32_MIN, 7}, {2})},
             {"wide", from_vector<int32_t>({-1, 8}, {2})},
             {"mask", truth}});
      load_weights(module, path);
      CHECK(module.parameter("weight").to_vector<float>() == std::vector<float>{1, 3, 2, 4});
      CHECK(module.buffer("narrow").to_vector<int32_t>() == std::vector<int32_t>{INT32_MIN, 7});
      CHECK(module.buffer("wide").to_vector<int64_t>() == std::vector<int64_t>{-1, 8});
      CHECK(module.buffer("mask").to_vector<uint8_t>() == std::vector<uint8_t>{1, 0});
    }
    write({{"narrow", from_vector<int64_t>({0, int64_t{1} << 31}, {2})}});
    const Buffers module;
    CHECK_THROWS_WITH(load_matching_weights(module, path),
                      Contains("'narrow' has a value beyond 32 bits; got 2147483648"));
    save_weights(module, path);
    CHECK(open_tensor_file(path)->find("wide")->type == "I64");
  }
}

TEST_CASE("weights: a net that registered nothing is not saved", "[weights]") {
  struct Members : Module {  // its layer is a plain member, as in other libraries
    Linear fc{2, 2};
    Tensor forward(const Tensor& x) override { return fc(x); }
  };
  const TemporaryFolder folder;
  const std::string path = folder.path("w.pth");
  CHECK_THROWS_WITH(save_weights(Members(), path), Contains("Members has no tensors") && Contains(path));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("weights: PyTorch's files are loaded, whatever their form", "[weights]") {
  for (const char* name : kFiles) {
    INFO(name);
    Sequential net = net_with_norm();
    net.to("reference");
    const LoadReport report = load_weights(net, data_file(name));
    CHECK(report.loaded.size() == 9);
    CHECK(report.unused.empty());
    CHECK(report.missing.empty());
    const bool wrapped = name == std::string("checkpoint");
    REQUIRE(report.renamed.size() == (wrapped ? 9 : 0));
    if (wrapped) CHECK(report.renamed[0].from == "module.conv.weight");
    CHECK(report.checkpoint_key == (wrapped ? "state_dict" : ""));
    CHECK(net.child("bn").buffer("num_batches_tracked").item() == 7);
    // (K, C, R, S) 0/8, 1/8, ... in the file; (K, R, S, C) in memory
    CHECK(net.parameters()[0].to_vector<float>() ==
          std::vector<float>{0, .25f, .5f, .125f, .375f, .625f, .75f, 1, 1.25f, .875f, 1.125f, 1.375f});
  }
}

TEST_CASE("weights: the content says what a file is, not its name", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("net.pth"), renamed = folder.path("net.safetensors");
  for (const bool pth : {true, false}) {
    Sequential net = net_with_norm();
    save_weights(net, pth ? path : renamed);
    std::filesystem::rename(pth ? path : renamed, pth ? renamed : path);
    Sequential other = net_with_norm();
    CHECK(load_weights(other, pth ? renamed : path).loaded.size() == 9);
    CHECK(other.parameters()[0].to_vector<float>() == net.parameters()[0].to_vector<float>());
  }
  CHECK_THROWS_WITH(open_tensor_file(folder.write("foreign.pth", "no weights")), Contains("foreign.pth is neither"));
  CHECK_THROWS_WITH(open_tensor_file(folder.write("empty", "")), Contains("empty is empty"));
  CHECK_THROWS_WITH(open_tensor_file(folder.write("one", "{")), Contains("one is neither"));
  CHECK_THROWS_WITH(open_tensor_file(folder.path("none")), Contains("none: No such file"));
  CHECK_THROWS_WITH(open_tensor_file(folder.path()), Contains(folder.path() + " is a folder"));
}

TEST_CASE("weights: a name that ends in .pth or .pt is written as PyTorch does", "[weights]") {
  const TemporaryFolder folder;
  for (const char* name : {"net.pth", "net.pt"}) {
    save_weights(small_net(), folder.path(name));
    CHECK(PthFile(folder.path(name)).entries()[0].shape == std::vector<int64_t>{2, 3, 2, 1});
    CHECK_THROWS_WITH(save_weights(small_net(), folder.path(name), {{"step", "3"}}), Contains("no metadata"));
  }
}

TEST_CASE("weights: the count of batches is 64 bits in files, and may be absent", "[weights]") {
  const TemporaryFolder folder;
  for (const char* name : {"net.pth", "net.safetensors"}) {
    const std::string path = folder.path(name);
    Sequential net = net_with_norm();
    net.child("bn").buffer("num_batches_tracked").copy_from(from_vector<int32_t>({12}, {}));
    save_weights(net, path);
    CHECK(open_tensor_file(path)->find("bn.num_batches_tracked")->type == "I64");
    CHECK(open_tensor_file(path)->find("bn.num_batches_tracked")->shape.empty());
    Sequential other = net_with_norm();
    load_weights(other, path);
    CHECK(other.child("bn").buffer("num_batches_tracked").item() == 12);
  }
  const std::string path = folder.path("old.safetensors");
  save_weights(small_net(), path);
  Sequential net = net_with_norm();
  CHECK(load_matching_weights(net, path).missing == Names{"bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"});
}

}  // namespace
}  // namespace dnn
