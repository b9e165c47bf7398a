#include <catch2/catch.hpp>

#include <libdnn/formats/pth.h>

#include "../files.h"
#include "pickles.h"

// What stands beside and around the tensors in PyTorch's files. tests/data/beside_*.pth have Python's own pickles of
// what people put into checkpoints, with a net under "net".
namespace dnn {
namespace {

using Catch::Matchers::Contains;
using pickles::dict;
using pickles::whole;
using Floats = std::vector<float>;

std::string data_file(const std::string& name) { return source_path("tests/data/" + name + ".pth"); }

const std::string kElements = std::string(24, '\1');  // 6 of 4 bytes

// A file with this object and a storage "0" of 6 floats, in either form.
std::string write(const TemporaryFolder& folder, const std::string& object, bool zip = true) {
  const std::string path = folder.path("w.pth");
  if (!zip) return folder.write("w.pth", pickles::legacy(object, {{"0", kElements}}, 6));
  pickles::write_zip(path, whole(object), {{"0", kElements}});
  return path;
}

std::string fault(const std::string& path, const std::string& key = "") {
  try {
    PthFile(path, key).read_all();
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains(path));
    return error.what();
  }
  return "accepted";
}

TEST_CASE("checkpoint: objects of any class beside the weights are passed over", "[pth]") {
  for (const char* name : {"beside_protocol2", "beside_protocol4", "beside_legacy"}) {
    INFO(name);
    PthFile file(data_file(name));
    CHECK(file.entered() == "net");
    REQUIRE(file.entries().size() == 9);
    CHECK(file.others().empty());
    const NamedTensors tensors = file.read_all();
    CHECK(tensors[0].name == "conv.weight");
    CHECK(tensors[0].tensor.to_vector<float>()[11] == 1.375f);
    CHECK(tensors[6].tensor.to_vector<int64_t>() == std::vector<int64_t>{7});
    CHECK(tensors[8].tensor.to_vector<float>() == Floats{62.5f, 62.625f});
  }
}

TEST_CASE("checkpoint: what is no tensor among the tensors is said to be what it is", "[pth]") {
  const TemporaryFolder folder;
  const std::string tensor = pickles::tensor({});
  const std::string module = "(" + pickles::text("module") + pickles::global("net", "Net") + "NNtQ)\x81";
  for (const bool zip : {true, false}) {
    PthFile file(write(folder,
                       dict({{"w", tensor},
                             {"args", pickles::global("argparse", "Namespace") + ")\x81}b"},
                             {"run", pickles::global("os", "system") + pickles::text("true") + "\x85R"},
                             {"q", pickles::global("torch._utils", "_rebuild_qtensor") + ")R"},
                             {"p", pickles::global("torch._utils", "_rebuild_parameter") + ")R"},
                             {"class", pickles::global("torch", "FloatStorage")},
                             {"set", "\x8f"},
                             {"epoch", "K\x03"},
                             {"loss", "G" + std::string(8, '\0')},
                             {"name", pickles::text("x")},
                             {"bytes", "C\1x"},
                             {"list", "]"},
                             {"dict", "}"},
                             {"none", "N"}}),
                       zip));
    REQUIRE(file.entries().size() == 1);
    CHECK(file.read_all()[0].tensor.numel() == 6);
    std::vector<std::string> others;
    for (const TensorFile::Other& other : file.others()) others.push_back(other.name + ": " + other.what);
    CHECK(others == std::vector<std::string>{"args: argparse.Namespace", "run: os.system",
                                             "q: torch._utils._rebuild_qtensor", "p: torch._utils._rebuild_parameter",
                                             "class: torch.FloatStorage", "set: an object", "epoch: a number",
                                             "loss: a number", "name: a text", "bytes: bytes", "list: a list",
                                             "dict: a dict", "none: None"});
    // Keys that are no texts, and a module's class in the place of a storage's.
    CHECK(fault(write(folder, "}(K\x01NN" + module + pickles::text("w") + tensor + "u", zip)) == "accepted");
    CHECK_THAT(fault(write(folder, "}(K\x01" + tensor + "u", zip)), Contains("name is no text"));
  }
}

TEST_CASE("checkpoint: a tensor made of opaque values is refused", "[pth]") {
  const TemporaryFolder folder;
  const std::string rebuild = pickles::global("torch._utils", "_rebuild_tensor_v2");
  const std::string object = pickles::global("config", "Config") + ")\x81";
  const std::string storage = "(" + pickles::text("storage") + pickles::global("torch", "FloatStorage") +
                              pickles::text("0") + pickles::text("cpu") + "K\x06tQ";
  const std::string zero = "K" + std::string(1, '\0'), shape = "K\x06\x85", stride = "K\x01\x85";
  const auto with = [&](const std::string& arguments) {
    return fault(write(folder, dict({{"w", rebuild + "(" + arguments + "tR"}})));
  };
  CHECK(with(storage + zero + shape + stride + object + object) == "accepted");  // gradient and hooks
  CHECK_THAT(with(object + zero + shape + stride), Contains("'w' has no storage"));
  CHECK_THAT(with(storage + object + shape + stride), Contains("'w' has a size, a stride or an offset that is none"));
  CHECK_THAT(with(storage + zero + object + stride), Contains("'w' has sizes or strides that are no tuple"));
  CHECK_THAT(with(storage + zero + shape + object), Contains("'w' has sizes or strides that are no tuple"));
  CHECK_THAT(with(storage + zero + object + "\x85" + stride), Contains("'w' has a size"));
  CHECK_THAT(fault(write(folder, dict({{"w", rebuild + object + "R"}}))), Contains("no tuple"));
  const std::string unknown = pickles::tensor({.storage = "QInt8Storage"});
  for (const bool zip : {true, false}) {
    CHECK_THAT(fault(write(folder, dict({{"w", unknown}}), zip)),
               Contains("storage '0' is of the type torch.QInt8Storage, which is not read"));
  }
  // Not where the tensor is none of the weights.
  CHECK(fault(write(folder, dict({{"model", dict({{"w", pickles::tensor({})}})}, {"other", unknown}}))) == "accepted");
}

TEST_CASE("checkpoint: the weights are found under the usual keys", "[pth]") {
  const TemporaryFolder folder;
  const std::string weights = dict({{"w", pickles::tensor({})}});
  for (const bool zip : {true, false}) {
    for (const char* key : {"state_dict", "model_state_dict", "model", "net", "params"}) {
      const std::string path = write(folder, dict({{"epoch", "K\x01"}, {"optimizer", weights}, {key, weights}}), zip);
      PthFile file(path);
      CHECK(file.entered() == key);
      REQUIRE(file.entries().size() == 1);
      CHECK(file.entries()[0].name == "w");
    }
  }
  // Tensors beside it; a key that has something else; the same dict twice.
  CHECK(PthFile(write(folder, dict({{"ema", pickles::tensor({})}, {"model", weights}}))).entered() == "model");
  CHECK(PthFile(write(folder, dict({{"model", pickles::text("resnet18")}, {"net", weights}}))).entered() == "net");
  CHECK(PthFile(write(folder, dict({{"model", "N"}, {"w", pickles::tensor({})}}))).entered().empty());
  CHECK(PthFile(write(folder, dict({{"net", weights + "q\1"}, {"model", "h\1"}}))).entered() == "model");
  CHECK_THAT(fault(write(folder, dict({{"net", weights}, {"model", weights}}))),
             Contains("has tensors under 'model' and 'net'; say which by the checkpoint key"));
}

TEST_CASE("checkpoint: the weights are found under a key that is named", "[pth]") {
  const TemporaryFolder folder;
  const std::string weights = dict({{"w", pickles::tensor({})}});
  for (const bool zip : {true, false}) {
    const std::string path = write(folder,
                                   dict({{"epoch", "K\x01"},
                                         {"model", dict({{"v", pickles::tensor({})}})},
                                         {"ema", weights},
                                         {"args", pickles::global("argparse", "Namespace") + ")\x81"},
                                         {"empty", dict({{"a", "N"}, {"b", "N"}})}}),
                                   zip);
    const PthFile file(path, "ema");
    CHECK(file.entered() == "ema");
    CHECK(file.entries()[0].name == "w");
    CHECK(PthFile(path).entries()[0].name == "v");
    CHECK_THAT(fault(path, "emma"), Contains("has no key 'emma'; it has epoch, model, ema, args, empty"));
    CHECK_THAT(fault(path, "epoch"), Contains("has a number under 'epoch', not a dict of tensors"));
    CHECK_THAT(fault(path, "args"), Contains("has argparse.Namespace under 'args'"));
    CHECK_THAT(fault(path, "empty"), Contains("a dict without tensors under 'empty'; in that are a, b"));
  }
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 100; ++i) many.emplace_back("k" + std::to_string(i), "N");
  CHECK_THAT(fault(write(folder, dict(many)), "k"), Contains("k18, k19 and 80 more"));
  CHECK_THAT(fault(write(folder, dict(many))), Contains("no tensors") && Contains("k19 and 80 more"));
}

TEST_CASE("checkpoint: what is no dict is said to be what it is", "[pth]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(PthFile(data_file("module")),
                    Contains("module.pth: holds __main__.Net, not a dict of tensors") && Contains("state_dict()"));
  const std::string module = "(" + pickles::text("module") + pickles::global("net", "Net") + "NNtQ)\x81}b";
  CHECK_THAT(fault(write(folder, module)), Contains("holds net.Net, not a dict of tensors"));
  CHECK_THAT(fault(folder.write("w.pth", pickles::legacy(module, {}, 0))), Contains("holds net.Net, not a dict"));
  for (const bool zip : {true, false}) {
    CHECK_THAT(fault(write(folder, pickles::tensor({}), zip)), Contains("holds torch._utils._rebuild_tensor_v2, not"));
  }
}

TEST_CASE("checkpoint: tensors with a negative bit", "[pth]") {
  PthFile file(data_file("negated"));
  const auto read = [&](const char* name) { return file.read(*file.find(name)); };
  CHECK(read("a").to_vector<float>() == Floats{-1, -2, -3});
  CHECK(read("column").to_vector<float>() == Floats{-1, -3, -5});
  CHECK(read("double").to_vector<double>() == std::vector<double>{-.5, 2});
  CHECK(read("half").to(DType::float32).to_vector<float>() == Floats{-1.5f, .25f});
  CHECK(read("bfloat16").to(DType::float32).to_vector<float>() == Floats{-1, 2.5f});
  CHECK(read("int64").to_vector<int64_t>() == std::vector<int64_t>{INT32_MIN, 7});
  CHECK(read("int32").to_vector<int32_t>() == std::vector<int32_t>{INT32_MIN, -5});  // as in PyTorch
  CHECK(read("uint8").to_vector<uint8_t>() == std::vector<uint8_t>{255, 0, 1});
  CHECK(read("plain").to_vector<float>() == Floats{4});
  CHECK(read("typed").to_vector<float>() == Floats{-5});
  CHECK(read("parameter").to_vector<float>() == Floats{-6});
}

TEST_CASE("checkpoint: other properties of a tensor are refused by name", "[pth]") {
  const TemporaryFolder folder;
  const std::string yes = "\x88", no = "\x89";
  for (const bool zip : {true, false}) {
    const auto with = [&](const std::string& metadata, const std::string& storage = "FloatStorage") {
      return fault(write(folder, dict({{"w", pickles::tensor({.storage = storage, .metadata = metadata})}}), zip));
    };
    CHECK(with("N") == "accepted");
    CHECK(with("}") == "accepted");
    CHECK(with(dict({{"neg", no}, {"conj", no}, {"new", no}})) == "accepted");
    CHECK(with(dict({{"neg", yes}})) == "accepted");
    CHECK(with(dict({{"neg", yes}}), "IntStorage") == "accepted");
    CHECK_THAT(with(dict({{"neg", yes}, {"conj", yes}})), Contains("'w' has the property 'conj', which is not read"));
    CHECK_THAT(with(dict({{"new", yes}})), Contains("'w' has the property 'new'"));
    CHECK_THAT(with(dict({{"neg", "K\1"}})), Contains("'w' has the property 'neg'"));
    CHECK_THAT(with(dict({{"device", pickles::text("npu")}})), Contains("'w' has the property 'device'"));
    CHECK_THAT(with("}(NNu"), Contains("'w' has a property whose name is no text"));
    CHECK_THAT(with(pickles::global("torch", "Meta") + ")R"), Contains("'w' has arguments that are unknown"));
    CHECK_THAT(with("}N"), Contains("'w' has arguments that are unknown"));
  }
  const std::string path = folder.path("w.pth");
  pickles::write_zip(
      path, whole(dict({{"w", pickles::tensor({.storage = "BoolStorage", .metadata = dict({{"neg", yes}})})}})),
      {{"0", kElements.substr(0, 6)}});
  CHECK_THAT(fault(path), Contains("'w' is negated, which truth values cannot be"));
}

}  // namespace
}  // namespace dnn
