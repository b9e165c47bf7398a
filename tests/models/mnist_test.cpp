#include <catch2/catch.hpp>

#include <libdnn/autograd/tape.h>
#include <libdnn/data/data_loader.h>
#include <libdnn/formats/weights.h>
#include <libdnn/models/zoo.h>
#include <libdnn/ops/argmax.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/optim/sgd.h>
#include <tests/kernels/rows.h>

#include "../default_device.h"
#include "golden.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("golden: the generator of weights", "[models]") {
  CHECK(test::fnv1a64("input") == 0x1ebbae8f5810b65b);
  CHECK(test::golden_uniform("input", 3) ==
        std::vector<double>{0.09781831502914429, 0.6523603796958923, 0.20362424850463867});
}

double norm(const Tensor& tensor) {
  double sum = 0;
  for (const float value : tensor.to_vector<float>()) sum += double{value} * value;
  return std::sqrt(sum);
}

// The first pictures of a part, as many as the tests use.
const ImageDataset& pictures(MnistPart part) {
  const auto load = [](MnistPart from, int count) {
    const test::DefaultDevice on("cpu");
    return load_mnist(source_path("data/mnist"), from).first(count);
  };
  static const ImageDataset training = load(MnistPart::train, 1280), testing = load(MnistPart::test, 1000);
  return part == MnistPart::train ? training : testing;
}

// They in file order.
std::vector<Batch> batches(MnistPart part, int batch) {
  DataLoader loader(pictures(part), {.batch_size = batch});
  loader.start_epoch(0);
  std::vector<Batch> list;
  for (Batch next; loader.next(next);) list.push_back(next);
  return list;
}

// Steps of SGD; their losses against PyTorch's in double precision.
void check_losses(Module& net, const nlohmann::json& golden, size_t steps) {
  test::set_golden_weights(net);
  SGD sgd(net.named_parameters(),
          {.lr = golden.at("lr"), .momentum = golden.at("momentum"), .weight_decay = golden.at("weight_decay")});
  const std::vector<double> losses = golden.at("losses");
  const std::vector<Batch> training = batches(MnistPart::train, 64);
  REQUIRE(training.size() == losses.size());
  for (size_t i = 0; i < steps; ++i) {
    sgd.zero_grad();
    const Tensor loss = cross_entropy(net(training[i].images), training[i].labels);
    loss.backward();
    sgd.step();
    INFO("step " << i);
    CHECK(loss.item() == Approx(losses[i]).epsilon(1e-4));
  }
}

// The first 1,000 test pictures after all steps, and the parameters.
void check_trained(Module& net, const nlohmann::json& golden) {
  net.eval();
  const NoGrad no_grad;
  int correct = 0;
  std::vector<float> first;
  for (const Batch& batch : batches(MnistPart::test, 100)) {
    const Tensor logits = net(batch.images);
    const std::vector<int32_t> guesses = argmax(logits).to_vector<int32_t>();
    const std::vector<int32_t> labels = batch.labels.to_vector<int32_t>();
    for (size_t i = 0; i < labels.size(); ++i) correct += guesses[i] == labels[i];
    if (first.empty()) first = logits.to_vector<float>();
  }
  CHECK(correct == golden.at("correct_of_first_1000_test"));
  const std::vector<double> expected = golden.at("test_logits_first");
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i) CHECK(first[i] == Approx(expected[i]).margin(1e-4 * largest));

  const NamedTensors tensors = net.named_tensors();
  const nlohmann::json& parameters = golden.at("parameters");
  REQUIRE(tensors.size() == parameters.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    INFO(tensors[i].name);
    const Tensor& tensor = tensors[i].tensor;
    CHECK(tensors[i].name == parameters[i][0]);
    const Tensor in_file = tensor.dims() == 4 ? krsc_to_kcrs(tensor) : tensor;
    CHECK(std::vector<int>(in_file.shape().begin(), in_file.shape().end()) == parameters[i][1]);
    CHECK(norm(tensor) == Approx(parameters[i][2].get<double>()).epsilon(1e-4));
  }
}

void check_training(const std::string& name, const Device& device) {
  const test::DefaultDevice on(device);
  const nlohmann::json golden = test::load_golden("mnist_sgd.json").at(name);
  const std::shared_ptr<Module> net = zoo_entry(name).make(10);
  check_losses(*net, golden, 20);
  check_trained(*net, golden);
}

TEST_CASE("mnist: training follows PyTorch on every row", "[models]") {
  for (const Backend* row : test::rows()) {
    for (const char* name : {"mnist_cnn", "lenet"}) {
      if (row->name == "reference" && name == std::string("lenet")) continue;
      DYNAMIC_SECTION(name << " on " << row->name) { check_training(name, row->name); }
    }
  }
}

// The plain loops need a second for each step of this net.
TEST_CASE("mnist: the first steps of lenet on the reference", "[models]") {
  const test::DefaultDevice on("reference");
  check_losses(*zoo_entry("lenet").make(10), test::load_golden("mnist_sgd.json").at("lenet"), 3);
}

TEST_CASE("mnist: lenet on the reference, whole", "[.][slow]") { check_training("lenet", "reference"); }

}  // namespace
}  // namespace dnn
