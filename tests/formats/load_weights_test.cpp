#include <catch2/catch.hpp>
#include <limits>

#include <libdnn/formats/npy.h>
#include <libdnn/formats/tensor_proto.h>
#include <libdnn/formats/weights.h>
#include <libdnn/layers/layers.h>

#include "../files.h"
#include "pickles.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Names = std::vector<std::string>;
using Floats = std::vector<float>;

std::string data_file(const std::string& name) { return source_path("tests/data/" + name + ".pth"); }

Sequential small_net() {
  Sequential net;
  net.add("conv", Conv2d({.in_channels = 3, .out_channels = 2, .kernel_size = {2, 1}}));
  net.add("fc", Linear(4, 2));
  return net;
}

// As in tests/data: conv.weight, conv.bias, fc.weight and fc.bias, and a batch norm.
Sequential net_with_norm() {
  Sequential net;
  net.add("conv", Conv2d({.in_channels = 3, .out_channels = 2, .kernel_size = {2, 1}}));
  net.add("bn", BatchNorm2d(2));
  net.add("fc", Linear(4, 2));
  return net;
}

// One bias of two elements under each of the names.
struct Biases : Module {
  explicit Biases(const Names& names) {
    for (const std::string& name : names) add(name);
  }
  void add(const std::string& name) {
    const size_t dot = name.find('.');
    if (dot == std::string::npos) {
      add_parameter(name, zeros({2}));
      return;
    }
    const std::string child_name = name.substr(0, dot);
    for (const Child& child : children()) {
      if (child.name == child_name) return dynamic_cast<Biases&>(*child.module).add(name.substr(dot + 1));
    }
    Module::add(child_name, std::make_shared<Biases>(Names{name.substr(dot + 1)}));
  }
  Tensor forward(const Tensor& x) override { return x; }
  std::shared_ptr<Module> clone() const override { return std::make_shared<Biases>(*this); }
};

// A safetensors file with a tensor {i, i} under each name.
std::string file_of(const TemporaryFolder& folder, const Names& names) {
  NamedTensors tensors;
  for (const std::string& name : names) {
    const auto value = static_cast<float>(tensors.size());
    tensors.push_back({name, tensor({value, value}, {2})});
  }
  write_safetensors(folder.path("w.safetensors"), tensors);
  return folder.path("w.safetensors");
}

TEST_CASE("load_weights: a file without the module's tensors is refused", "[weights]") {
  const TemporaryFolder folder;
  const Sequential net = small_net();
  const Floats before = net.parameters()[0].to_vector<float>();
  const auto refusal = [&](const std::string& path) -> std::string {
    try {
      load_weights(net, path);
    } catch (const Error& error) {
      CHECK(net.parameters()[0].to_vector<float>() == before);
      return error.what();
    }
    return "accepted";
  };
  std::string path = file_of(folder, {"features.0", "features.1", "features.2", "head.3", "head.4"});
  CHECK(refusal(path) == "[load_weights] " + path +
                             " does not fit Sequential: missing conv.weight, conv.bias, fc.weight, fc.bias; unused "
                             "features.0, features.1, features.2 and 2 more");
  path = file_of(folder, {});
  CHECK(refusal(path) == "[load_weights] " + path +
                             " does not fit Sequential: missing conv.weight, conv.bias, fc.weight, fc.bias; the file "
                             "has no tensors");
  write_pth(folder.path("w.pth"), {});
  CHECK_THAT(refusal(folder.path("w.pth")), Contains("the file has no tensors"));
  // All but one.
  Sequential less;
  less.add("conv", Conv2d({.in_channels = 3, .out_channels = 2, .kernel_size = {2, 1}}));
  less.add("fc", Linear({.in_features = 4, .out_features = 2, .bias = false}));
  save_weights(less, path);
  CHECK_THAT(refusal(path), EndsWith("does not fit Sequential: missing fc.bias"));
  const Sequential other = small_net();
  CHECK(load_matching_weights(other, path).missing == Names{"fc.bias"});
  CHECK(other.parameters()[0].to_vector<float>() == less.parameters()[0].to_vector<float>());

  Names many;
  for (int i = 0; i < 60; ++i) many.push_back("layer" + std::to_string(i) + ".bias");
  CHECK_THROWS_WITH(load_weights(Biases(many), path), Contains("layer0.bias, layer1.bias, layer2.bias and 57 more;"));
  CHECK_THAT(refusal(file_of(folder, {"a\n\x1b[31m", "b"})), Contains("unused a\\x0a\\x1b[31m, b"));
  CHECK_THROWS_WITH(load_weights(ReLU(), path), Contains("[load_weights] " + path) && Contains("ReLU has no tensors"));
  CHECK_THROWS_WITH((void)load_matching_weights(ReLU(), path), Contains("ReLU has no tensors"));
}

TEST_CASE("load_weights: what the file has in the place of a missing tensor is said", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("w.pth"), elements(24, '\0');
  const std::string quantized = pickles::global("torch._utils", "_rebuild_qtensor") + ")R";
  pickles::write_zip(path,
                     pickles::whole(pickles::dict({{"module.a", quantized}, {"b", pickles::tensor({})}, {"n", "N"}})),
                     {{"0", elements}});
  CHECK_THROWS_WITH(load_weights(Biases({"a", "c"}), path),
                    Contains("missing a (the file has torch._utils._rebuild_qtensor), c; unused b"));
  const LoadReport report = load_matching_weights(Biases({"a"}), path);
  CHECK(report.missing == Names{"a"});
  CHECK(report.unused == Names{"b"});
  CHECK(report.others == Names{"module.a", "n"});
}

TEST_CASE("load_matching_weights: another number of classes", "[weights]") {
  Sequential more;
  more.add("conv", Conv2d({.in_channels = 3, .out_channels = 2, .kernel_size = {2, 1}}));
  more.add("fc", Linear(4, 5));
  const Floats before = more.child("fc").parameter("weight").to_vector<float>();
  for (const char* name : {"net_protocol2", "net_protocol5", "net_legacy2", "checkpoint"}) {
    CHECK_THROWS_WITH(
        load_weights(more, data_file(name)),
        Contains("fc.weight needs (5, 4), the file has (2, 4); 1 more of another shape or type") && Contains(name));
    const LoadReport report = load_matching_weights(more, data_file(name));
    CHECK(report.loaded == Names{"conv.weight", "conv.bias"});
    REQUIRE(report.mismatched.size() == 2);
    CHECK(report.mismatched[0].name == "fc.weight");
    CHECK(report.mismatched[0].needed == std::vector<int64_t>{5, 4});
    CHECK(report.mismatched[0].found == std::vector<int64_t>{2, 4});
    CHECK(report.mismatched[1].name == "fc.bias");
    CHECK(report.missing.empty());
    CHECK(report.unused.size() == 5);
  }
  CHECK(more.child("fc").parameter("weight").to_vector<float>() == before);

  const TemporaryFolder folder;
  const std::string path = folder.path("types.safetensors");
  write_safetensors(path, {{"a", from_vector<int32_t>({1, 2}, {2})}, {"b", tensor({3, 4}, {2})}});
  const Biases biases({"a", "b"});
  CHECK_THROWS_WITH(load_weights(biases, path), Contains("a needs float32, the file has I32"));
  const LoadReport report = load_matching_weights(biases, path);
  CHECK(report.loaded == Names{"b"});
  REQUIRE(report.mismatched.size() == 1);
  CHECK(report.mismatched[0].needed_type == "float32");
  CHECK(report.mismatched[0].found_type == "I32");
}

TEST_CASE("load_weights: wrappings are taken off where the module has no such name", "[weights]") {
  const TemporaryFolder folder;
  struct Case {
    Names module, file;
  };
  const Case cases[] = {
      {{"a.w", "b"}, {"module.a.w", "module.b"}},
      {{"a.w", "b"}, {"_orig_mod.a.w", "_orig_mod.b"}},
      {{"a.w", "b"}, {"model.a.w", "model.b"}},
      {{"a.w", "b"}, {"module._orig_mod.a.w", "module._orig_mod.b"}},
      {{"a.w", "b"}, {"module.module.a.w", "model.module._orig_mod.b"}},
      {{"a.w", "b"}, {"a._orig_mod.w", "b"}},
      {{"a.c.w", "b"}, {"module.a._orig_mod.c.module.w", "b"}},
      {{"model.a", "model.b"}, {"model.a", "model.b"}},               // its own name
      {{"model.a", "model.b"}, {"module.model.a", "model.model.b"}},  // as few as it takes
      {{"module.a", "a"}, {"module.a", "a"}},
      {{"module.a", "a"}, {"_orig_mod.module.a", "_orig_mod.a"}},
      {{"module.a", "module.module.a"}, {"module.module.a", "module.a"}},
      {{"model", "module.model"}, {"model", "module.model"}},  // of tensors, too
      {{"model", "b"}, {"module.model", "module.b"}},
      {{"a.model.w", "b"}, {"module.a.model.module.w", "b"}},
  };
  for (const Case& c : cases) {
    INFO(c.file[0] << " " << c.file[1]);
    const Biases net(c.module);
    const LoadReport report = load_weights(net, file_of(folder, c.file));
    CHECK(report.loaded.size() == 2);
    CHECK(report.unused.empty());
    size_t renamed = 0;
    for (const LoadReport::Renamed& r : report.renamed) {
      renamed += static_cast<size_t>((r.from == c.file[0] && r.to == c.module[0]) ||
                                     (r.from == c.file[1] && r.to == c.module[1]));
    }
    CHECK(renamed == report.renamed.size());
    for (const NamedTensor& t : net.named_tensors()) {
      for (size_t i = 0; i < 2; ++i) {
        const bool swapped = c.module[0] == "module.a" && c.file[0] == "module.module.a";
        const auto value = static_cast<float>(swapped ? 1 - i : i);
        if (t.name == c.module[i]) CHECK(t.tensor.to_vector<float>() == Floats{value, value});
      }
    }
  }
  // Nothing else is taken off, nothing is put before, and a tensor that has its name gives it to no other.
  const auto missing = [&](const Names& module, const Names& file) {
    return load_matching_weights(Biases(module), file_of(folder, file)).missing;
  };
  CHECK(missing({"a"}, {"modules.a"}) == Names{"a"});
  CHECK(missing({"a"}, {"encoder.a"}) == Names{"a"});
  CHECK(missing({"a"}, {"a.module"}) == Names{"a"});
  CHECK(missing({"a"}, {"a."}) == Names{"a"});
  CHECK(missing({"a"}, {".a"}) == Names{"a"});
  CHECK(missing({"a"}, {"module..a"}) == Names{"a"});
  CHECK(missing({"a"}, {""}) == Names{"a"});
  CHECK(missing({"model"}, {"model.model.model"}).empty());
  CHECK(missing({"model.model"}, {"model.module.model"}).empty());
  CHECK(missing({"a"}, {"module"}) == Names{"a"});
  CHECK(missing({"module.a"}, {"a"}) == Names{"module.a"});
  CHECK(missing({"module.a", "a"}, {"module.a"}) == Names{"a"});
  CHECK(missing({"module.a", "model.a"}, {"module.model.a"}) == Names{"module.a", "model.a"});  // which one?
  CHECK(missing({"a"}, {std::string(100'000, '.') + "a"}) == Names{"a"});
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "module.";
  CHECK(missing({"a", "model.a"}, {deep + "a", deep + "model." + deep + "a"}).empty());
}

TEST_CASE("load_weights: PyTorch's files with wrappings, as it writes them", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("w.pth");
  for (const std::string prefix : {"module.", "_orig_mod.", "module._orig_mod.", "model."}) {
    NamedTensors tensors = read_pth(data_file("net_protocol2"));
    for (NamedTensor& t : tensors) t.name = prefix + t.name;
    write_pth(path, tensors);
    const Sequential net = net_with_norm();
    CHECK(load_weights(net, path).renamed.size() == 9);
    CHECK(net.child("fc").parameter("bias").to_vector<float>() == Floats{62.5f, 62.625f});
  }
}

TEST_CASE("load_weights: two names for one tensor are refused", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = file_of(folder, {"a", "module.a"});
  for (const char* first : {"a", "_orig_mod.a"}) {
    file_of(folder, {first, "module.a"});
    CHECK_THROWS_WITH(load_weights(Biases({"a"}), path),
                      Contains("has '" + std::string(first) + "' and 'module.a', which both stand for a"));
    CHECK_THROWS_WITH((void)load_matching_weights(Biases({"a", "b"}), path), Contains("both stand for a"));
  }
}

TEST_CASE("load_weights: a tensor of two names needs only one of them in the file", "[weights]") {
  const TemporaryFolder folder;
  Sequential net;
  const auto shared = std::make_shared<Linear>(4, 2);
  net.add("a", shared);
  net.add("b", shared);
  const std::string path = folder.path("w.safetensors");
  write_safetensors(path, {{"b.weight", ones({2, 4})}, {"a.bias", zeros({2})}, {"b.bias", zeros({2})}});
  const LoadReport report = load_weights(net, path);
  CHECK(report.missing.empty());
  CHECK(report.loaded == Names{"a.bias", "b.weight", "b.bias"});
  CHECK(shared->parameter("weight").to_vector<float>() == Floats(8, 1));
}

TEST_CASE("load_weights: one storage under several names", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("w.pth"),
                    elements("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\xc0\x40", 24);
  const auto part = [](int64_t offset) { return pickles::tensor({.offset = offset, .sizes = {2}, .strides = {1}}); };
  pickles::write_zip(path, pickles::whole(pickles::dict({{"a", part(0)}, {"module.b", part(4)}, {"c", part(0)}})),
                     {{"0", elements}});
  const Biases net({"a", "b", "c"});
  load_weights(net, path);
  CHECK(net.parameters()[0].to_vector<float>() == Floats{1, 2});
  CHECK(net.parameters()[1].to_vector<float>() == Floats{5, 6});
  CHECK(net.parameters()[2].to_vector<float>() == Floats{1, 2});
}

TEST_CASE("load_weights: a count of batches of any type, and none", "[weights]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("w.safetensors");
  const auto load = [&](const Tensor& count) {
    NamedTensors tensors;
    for (const char* name : {"weight", "bias", "running_mean", "running_var"}) tensors.push_back({name, zeros({2})});
    if (count.defined()) tensors.push_back({"num_batches_tracked", count});
    write_safetensors(path, tensors);
    const BatchNorm2d norm(2);
    const LoadReport report = load_weights(norm, path);
    CHECK(report.missing.empty());
    CHECK(report.loaded.size() == tensors.size());
    CHECK(norm.buffer("num_batches_tracked").shape() == Shape{});
    return norm.buffer("num_batches_tracked").to_vector<int32_t>()[0];
  };
  CHECK(load({}) == 0);
  CHECK(load(tensor({7}, {})) == 7);
  CHECK(load(tensor({7}, {1})) == 7);  // as before PyTorch 0.4
  CHECK(load(from_vector<double>({2147483647}, {}, "reference")) == 2147483647);
  CHECK(load(from_vector<uint8_t>({200}, {})) == 200);
  CHECK(load(from_vector<int32_t>({5}, {1})) == 5);
  CHECK_THROWS_WITH(load(tensor({7.5f}, {})), Contains("'num_batches_tracked' is no count; got 7.5"));
  CHECK_THROWS_WITH(load(tensor({1e10f}, {})), Contains("is no count; got 10000000000"));
  CHECK_THROWS_WITH(load(tensor({std::numeric_limits<float>::quiet_NaN()}, {})), Contains("is no count; got nan"));
  CHECK_THROWS_WITH(load(tensor({7, 8}, {2})), Contains("num_batches_tracked needs (), the file has (2)"));

  // 65,536 is infinite as float16.
  NamedTensors infinite;
  for (const char* name : {"weight", "bias", "running_mean", "running_var"}) infinite.push_back({name, zeros({2})});
  infinite.push_back({"num_batches_tracked", tensor({std::numeric_limits<float>::infinity()}, {})});
  write_safetensors(path, infinite);
  const BatchNorm2d norm(2);
  norm.buffer("num_batches_tracked").copy_from(from_vector<int32_t>({3}, {}));
  CHECK(load_weights(norm, path).loaded == Names{"weight", "bias", "running_mean", "running_var"});
  CHECK(norm.buffer("num_batches_tracked").to_vector<int32_t>() == std::vector<int32_t>{3});

  NamedTensors tensors = read_pth(data_file("net_protocol2"));
  for (NamedTensor& t : tensors) {
    if (t.name == "bn.num_batches_tracked") t.tensor = tensor({7}, {});
  }
  write_pth(folder.path("w.pth"), tensors);
  const Sequential net = net_with_norm();
  load_weights(net, folder.path("w.pth"));
  CHECK(net.child("bn").buffer("num_batches_tracked").to_vector<int32_t>() == std::vector<int32_t>{7});
}

TEST_CASE("load_weights: a checkpoint's weights, also under a key that is named", "[weights]") {
  for (const char* name : {"beside_protocol2", "beside_protocol4", "beside_legacy"}) {
    for (const char* key : {"", "net"}) {
      const Sequential net = net_with_norm();
      const LoadReport report = load_weights(net, data_file(name), {.checkpoint_key = key});
      CHECK(report.checkpoint_key == "net");
      CHECK(report.loaded.size() == 9);
      CHECK(net.child("fc").parameter("bias").to_vector<float>() == Floats{62.5f, 62.625f});
    }
    CHECK_THROWS_WITH(load_weights(net_with_norm(), data_file(name), {.checkpoint_key = "ema"}),
                      Contains("has no key 'ema'; it has epoch, args, best"));
  }
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(load_weights(Biases({"a"}), file_of(folder, {"a"}), {.checkpoint_key = "ema"}),
                    Contains("is a safetensors file, which has no checkpoint keys; got 'ema'"));
}

TEST_CASE("load_weights: what stands in the place of a file of weights is said", "[weights]") {
  const TemporaryFolder folder;
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 3875\n";
  struct Case {
    std::string content;
    const char* message;
  };
  const Case cases[] = {{"", " is empty"},
                        {pointer, " is a Git LFS pointer; run `git lfs pull`"},
                        {"<!DOCTYPE html><html>", " is an HTML page"},
                        {"<html>", " is an HTML page"}};
  for (const Case& c : cases) {
    for (const char* name : {"w.pth", "w.safetensors", "w.npy", "w.pb"}) {
      const std::string path = folder.write(name, c.content);
      CHECK_THROWS_WITH(load_weights(Biases({"a"}), path), Contains(path + c.message));
      CHECK_THROWS_WITH(PthFile(path), Contains(path + c.message));
      CHECK_THROWS_WITH(SafetensorsFile(path), Contains(path + c.message));
      CHECK_THROWS_WITH(read_tensor(path), Contains(path + c.message));
      CHECK_THROWS_WITH(read_npy(path), Contains(path + c.message));
    }
  }
}

}  // namespace
}  // namespace dnn
