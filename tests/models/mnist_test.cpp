#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <string_view>

#include <libdnn/autograd/tape.h>
#include <libdnn/data/data_loader.h>
#include <libdnn/formats/weights.h>
#include <libdnn/models/zoo.h>
#include <libdnn/ops/ops.h>
#include <libdnn/optim/sgd.h>
#include <tests/kernels/rows.h>

#include "../default_device.h"
#include "../difference.h"
#include "decisions.h"
#include "golden.h"

// The two small nets on MNIST, against 20 steps of SGD that PyTorch took in double precision.
//
// A net in training amplifies rounding, and a max-pooling window whose two largest cells are nearly equal turns it into
// another gradient. So a run in float32 follows the golden one for some steps only, and for how many is luck.
// Therefore:
// - the reference in double follows PyTorch to the last step;
// - each other row takes every step from the reference's weights, and decides as the reference does but for ties;
// - it runs freely over as many steps as rounding needs to grow to the tolerance.
namespace dnn {
namespace {

TEST_CASE("golden: the generator of weights", "[models]") {
  CHECK(test::fnv1a64("input") == 0x1ebbae8f5810b65b);
  CHECK(test::golden_uniform("input", 3) ==
        std::vector<double>{0.09781831502914429, 0.6523603796958923, 0.20362424850463867});
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

SGD optimizer(const NamedTensors& parameters, const nlohmann::json& golden) {
  return {parameters,
          {.lr = golden.at("lr"), .momentum = golden.at("momentum"), .weight_decay = golden.at("weight_decay")}};
}

// The nets in double, on the device `reference`: operations over parameters of the zoo's names.
class DoubleNet {
 public:
  explicit DoubleNet(const std::string& name) : name_(name) {
    const test::DefaultDevice on{Device("reference")};
    const std::shared_ptr<Module> net = zoo_entry(name).make(10);
    test::set_golden_weights(*net);
    for (const NamedTensor& p : net->named_parameters()) {
      parameters_.push_back({p.name, to_float_type(p.tensor.detach(), DType::float64)});
      parameters_.back().tensor.requires_grad(true);
    }
  }

  const NamedTensors& parameters() const { return parameters_; }

  Tensor operator()(const Batch& batch) const {
    const Tensor x = pixels(batch.images);
    if (name_ == "mnist_cnn") {
      Tensor y = sigmoid(conv2d(x, p("conv.weight"), p("conv.bias")));
      y = sigmoid(shared_conv2d(y, p("subsample.weight"), p("subsample.bias"), {.stride = {4, 4}}));
      return linear(flatten(y), p("fc.weight"), p("fc.bias"));
    }
    const Pool2dOptions pool{.window = {2, 2}};
    Tensor y = max_pool2d(conv2d(x, p("conv1.weight"), p("conv1.bias")), pool);
    y = max_pool2d(conv2d(y, p("conv2.weight"), p("conv2.bias")), pool);
    return linear(relu(linear(flatten(y), p("ip1.weight"), p("ip1.bias"))), p("ip2.weight"), p("ip2.bias"));
  }

 private:
  const Tensor& p(const std::string& name) const {
    for (const NamedTensor& parameter : parameters_) {
      if (parameter.name == name) return parameter.tensor;
    }
    throw Error("no parameter " + name);
  }

  // Bytes / 255, not rounded to float.
  static Tensor pixels(const Tensor& images) {
    std::vector<double> values;
    for (const float v : images.to_vector<float>()) values.push_back(std::round(double{v} * 255) / 255);
    return from_vector(values, images.shape(), "reference");
  }

  std::string name_;
  NamedTensors parameters_;
};

double norm(const Tensor& tensor) {
  double sum = 0;
  for (const double value : tensor.to_vector<double>()) sum += value * value;
  return std::sqrt(sum);
}

// Both run in double: what rounding grows to in 20 steps stays far below the nine digits of the file.
void check_double(const std::string& name) {
  const test::DefaultDevice on{Device("reference")};
  const nlohmann::json golden = test::load_golden("mnist_sgd.json").at(name);
  const DoubleNet net(name);
  SGD sgd = optimizer(net.parameters(), golden);
  const std::vector<double> losses = golden.at("losses");
  const std::vector<Batch> training = batches(MnistPart::train, 64);
  REQUIRE(training.size() == losses.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    sgd.zero_grad();
    const Tensor loss = cross_entropy(net(training[i]), training[i].labels);
    loss.backward();
    sgd.step();
    INFO("step " << i);
    CHECK(loss.item() == Approx(losses[i]).epsilon(1e-8));
  }

  const NoGrad no_grad;
  int correct = 0;
  std::vector<double> first;
  for (const Batch& batch : batches(MnistPart::test, 100)) {
    const Tensor logits = net(batch);
    const std::vector<int32_t> guesses = argmax(logits).to_vector<int32_t>();
    const std::vector<int32_t> labels = batch.labels.to_vector<int32_t>();
    for (size_t i = 0; i < labels.size(); ++i) correct += guesses[i] == labels[i];
    if (first.empty()) first = logits.to_vector<double>();
  }
  CHECK(correct == golden.at("correct_of_first_1000_test"));
  const std::vector<double> expected = golden.at("test_logits_first");
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i) CHECK(first[i] == Approx(expected[i]).margin(1e-7 * largest));

  const nlohmann::json& parameters = golden.at("parameters");
  REQUIRE(net.parameters().size() == parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto& [parameter, tensor] = net.parameters()[i];
    INFO(parameter);
    CHECK(parameter == parameters[i][0]);
    const Shape& s = tensor.shape();
    const std::vector<int> in_file = s.dims() == 4 ? std::vector<int>{s[0], s[3], s[1], s[2]}  // K, C, R, S
                                                   : std::vector<int>{s.begin(), s.end()};
    CHECK(in_file == parameters[i][1]);
    CHECK(norm(tensor) == Approx(parameters[i][2].get<double>()).epsilon(1e-7));
  }
}

TEST_CASE("mnist: the reference in double follows PyTorch", "[models]") { check_double("mnist_cnn"); }
// The plain loops need a second for each step of this net.
TEST_CASE("mnist: the reference in double follows PyTorch, lenet", "[models][large]") { check_double("lenet"); }

// One step forward and back: what it computes, and what it decides on the way.
struct Step {
  double loss;
  std::vector<test::Decision> decisions;
  NamedTensors gradients;
};

Step take_step(Module& net, const Batch& batch, const Device& device) {
  const test::DefaultDevice on(device);
  net.zero_grad();
  Step step;
  Tensor loss;
  step.decisions =
      test::record_decisions(net, [&] { loss = cross_entropy(net(batch.images.to(device)), batch.labels.to(device)); });
  loss.backward();
  step.loss = loss.item();
  for (const NamedTensor& p : net.named_parameters()) step.gradients.push_back({p.name, p.tensor.grad()});
  return step;
}

double largest(const Tensor& tensor) {
  double value = 0;
  for (const float v : tensor.to_vector<float>()) value = std::max(value, std::abs(double{v}));
  return value;
}

// Differences relative to the largest gradient of the layer: that of its bias may be a sum in which most cancels.
void check_gradients(const NamedTensors& expected, const NamedTensors& gradients) {
  std::map<std::string, double> scale;
  const auto layer = [](const std::string& name) { return name.substr(0, name.find('.')); };
  for (const auto& [name, dw] : expected) scale[layer(name)] = std::max(scale[layer(name)], largest(dw));
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string& name = expected[i].name;
    INFO(name);
    REQUIRE(scale.at(layer(name)) > 0);
    CHECK(test::largest_difference(expected[i].tensor, gradients[i].tensor) <= 1e-5 * scale.at(layer(name)));
  }
}

// The first steps, each from the weights that the reference has come to.
void check_steps(const std::string& name, size_t steps) {
  const nlohmann::json golden = test::load_golden("mnist_sgd.json").at(name);
  const test::DefaultDevice on{Device("reference")};
  const std::shared_ptr<Module> leader = zoo_entry(name).make(10);
  test::set_golden_weights(*leader);
  SGD sgd = optimizer(leader->named_parameters(), golden);
  struct Follower {
    const Backend* row;
    std::shared_ptr<Module> net;
    size_t compared = 0;
  };
  std::vector<Follower> followers;
  for (const Backend* row : test::host_rows()) {
    if (row->name == std::string_view("reference")) continue;
    followers.push_back({row, leader->clone()});
    followers.back().net->to(row->name);
  }
  const std::vector<Batch> training = batches(MnistPart::train, 64);
  for (size_t i = 0; i < steps; ++i) {
    INFO("step " << i);
    const Step expected = take_step(*leader, training[i], "reference");
    for (Follower& f : followers) {
      INFO(f.row->name);
      const TensorList from = leader->parameters(), to = f.net->parameters();
      for (size_t p = 0; p < from.size(); ++p) to[p].copy_from(from[p].detach());
      const Step step = take_step(*f.net, training[i], f.row->name);
      CHECK(step.loss == Approx(expected.loss).epsilon(1e-6));
      if (!test::same_but_for_ties(expected.decisions, step.decisions, 1e-6)) continue;
      ++f.compared;
      check_gradients(expected.gradients, step.gradients);
    }
    sgd.step();
  }
  for (const Follower& f : followers) {
    INFO(f.row->name << ": steps without a tie that went the other way");
    CHECK(2 * f.compared >= steps);
  }
}

TEST_CASE("mnist: every row takes the reference's steps", "[models]") {
  DYNAMIC_SECTION("mnist_cnn") { check_steps("mnist_cnn", 20); }
  DYNAMIC_SECTION("lenet") { check_steps("lenet", 3); }
}
TEST_CASE("mnist: every row takes the reference's steps, lenet to the end", "[models][large]") {
  check_steps("lenet", 20);
}

// Steps without the reference's help. A perturbation of the first weights by 1e-8 moves the losses of mnist_cnn by
// 2e-10 at most and of lenet by 3e-9, at each of the 20 steps: smooth as they are, the nets don't amplify rounding. A
// tie in lenet's pooling that goes the other way does: measured, it moves the loss by about 4e-8 and grows 1.8-fold a
// step, so that 8 steps stay 20 times below the tolerance, and 20 do not.
void check_free_run(const std::string& name, const Device& device, size_t steps) {
  const test::DefaultDevice on(device);
  const nlohmann::json golden = test::load_golden("mnist_sgd.json").at(name);
  const std::shared_ptr<Module> net = zoo_entry(name).make(10);
  test::set_golden_weights(*net);
  SGD sgd = optimizer(net->named_parameters(), golden);
  const std::vector<double> losses = golden.at("losses");
  const std::vector<Batch> training = batches(MnistPart::train, 64);
  for (size_t i = 0; i < steps; ++i) {
    sgd.zero_grad();
    const Tensor loss = cross_entropy((*net)(training[i].images), training[i].labels);
    loss.backward();
    sgd.step();
    INFO("step " << i);
    CHECK(loss.item() == Approx(losses[i]).epsilon(1e-4));
  }
}

TEST_CASE("mnist: training follows PyTorch on every row", "[models]") {
  for (const Backend* row : test::host_rows()) {
    DYNAMIC_SECTION("mnist_cnn on " << row->name) { check_free_run("mnist_cnn", row->name, 20); }
    if (row->name == std::string_view("reference")) continue;  // seconds a step
    DYNAMIC_SECTION("lenet on " << row->name) { check_free_run("lenet", row->name, 8); }
  }
}

}  // namespace
}  // namespace dnn
