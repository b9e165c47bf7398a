#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <libdnn/core/allocator.h>
#include <libdnn/dnn.h>
#include <libdnn/train/non_finite.h>

#include "../files.h"
#include "../set_value.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

ImageDataset part_of_mnist(MnistPart part, int64_t samples) {
  return load_mnist(source_path("data/mnist"), part).first(samples);
}

struct Outcome {
  std::vector<EpochReport> epochs;
  std::vector<float> weights;
};

Outcome train_lenet(int threads, const std::string& out = "", int64_t samples = 640, TrainerEvents events = {}) {
  set_num_threads(threads);
  manual_seed(3);
  const std::shared_ptr<Module> net = zoo_entry("lenet").make(10);
  DataLoader train(part_of_mnist(MnistPart::train, samples), {.batch_size = 64, .shuffle = true, .seed = 3});
  DataLoader test(part_of_mnist(MnistPart::test, 300), {.batch_size = 128});
  Trainer trainer(*net, train, test,
                  {.epochs = 2, .sgd = {.lr = 0.05, .momentum = 0.9}, .out = out, .events = std::move(events)});
  Outcome outcome{trainer.run().epochs, {}};
  for (const Tensor& parameter : net->parameters()) {
    const std::vector<float> values = parameter.to_vector<float>();
    outcome.weights.insert(outcome.weights.end(), values.begin(), values.end());
  }
  return outcome;
}

TEST_CASE("evaluation: samples are counted, not batches", "[evaluate]") {
  Evaluation sums;
  sums.add(1.0, 3, 3);
  sums.add(4.0, 0, 1);
  CHECK(sums.loss() == 1.75);
  CHECK(sums.accuracy() == 0.75);
  CHECK(Evaluation().accuracy() == 0);
}

TEST_CASE("count_correct: equal scores are not all right", "[evaluate]") {
  const Tensor labels = from_vector<int32_t>({0, 1, 2}, {3});
  CHECK(count_correct(zeros({3, 3}), labels) == 1);
  CHECK(count_correct(tensor({1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3}), labels) == 3);
}

TEST_CASE("count_correct: a label for each row of the scores", "[evaluate]") {
  const Tensor scores = zeros({2, 3});
  for (const int labels : {0, 1, 3}) {
    CHECK_THROWS_WITH(count_correct(scores, zeros({labels}, DType::int32)),
                      Contains("[count_correct] labels must be (2)"));
  }
  CHECK_THROWS_WITH(count_correct(zeros({2, 1, 3}), zeros({2}, DType::int32)), Contains("[count_correct]"));
  CHECK(count_correct(zeros({0, 3}), zeros({0}, DType::int32)) == 0);
}

TEST_CASE("trainer: a net learns, and all threads give the same bits", "[trainer]") {
  const int before = num_threads();
  const Outcome one = train_lenet(1);
  CHECK(one.epochs[1].test_accuracy > 0.5);
  CHECK(one.epochs[1].train_loss < one.epochs[0].train_loss);
  CHECK(one.epochs[1].iterations == 20);
  for (const int threads : {1, 2, 3}) {
    INFO(threads << " threads");
    const Outcome again = train_lenet(threads);
    REQUIRE(again.weights == one.weights);
    for (size_t e = 0; e < 2; ++e) {
      CHECK(again.epochs[e].train_loss == one.epochs[e].train_loss);
      CHECK(again.epochs[e].test_loss == one.epochs[e].test_loss);
    }
  }
  set_num_threads(before);
}

TEST_CASE("trainer: no system allocation after the first step", "[trainer]") {
  if (!Allocator::caches()) return;               // under AddressSanitizer every tensor is one
  default_device().allocator().release_unused();  // what other tests left would hide an allocation
  std::vector<int64_t> counts;
  train_lenet(2, "", 640,
              {.step = [&](int, const Evaluation&, double) { counts.push_back(memory_stats().system_allocations); }});
  REQUIRE(counts.size() == 20);
  for (size_t step = 1; step < 10; ++step) CHECK(counts[step] == counts[0]);
}

TEST_CASE("trainer: log and weights of a run", "[trainer]") {
  const TemporaryFolder folder;
  const std::string out = folder.path("deep/run");
  const Outcome outcome = train_lenet(2, out, 100);  // a short last batch of 36
  std::ifstream log(out + "/log.csv");
  std::string header, first, second, none;
  std::getline(log, header);
  std::getline(log, first);
  std::getline(log, second);
  CHECK(header == "epoch,iterations,lr,train_loss,train_accuracy,test_loss,test_accuracy,seconds,images_per_s");
  CHECK(first.rfind("1,2,0.05,", 0) == 0);
  CHECK(second.rfind("2,4,0.05,", 0) == 0);
  CHECK_FALSE(std::getline(log, none));
  const std::shared_ptr<Module> net = zoo_entry("lenet").make(10);
  load_weights(*net, out + "/weights.safetensors");
  std::vector<float> weights;
  for (const Tensor& parameter : net->parameters()) {
    const std::vector<float> values = parameter.to_vector<float>();
    weights.insert(weights.end(), values.begin(), values.end());
  }
  CHECK(weights == outcome.weights);
}

TEST_CASE("trainer: a folder that cannot be is said before training", "[trainer]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  int steps = 0;
  CHECK_THROWS_WITH(train_lenet(1, file + "/run", 64, {.step = [&](int, const Evaluation&, double) { ++steps; }}),
                    Contains(file));
  CHECK(steps == 0);
}

TEST_CASE("trainer: a set of no batches is no training", "[trainer]") {
  const std::shared_ptr<Module> net = zoo_entry("lenet").make(10);
  DataLoader train(part_of_mnist(MnistPart::train, 64), {.batch_size = 65, .drop_last = true});
  DataLoader test(part_of_mnist(MnistPart::test, 64), {.batch_size = 64});
  CHECK_THROWS_WITH(Trainer(*net, train, test, {}).run(), Contains("no batch"));
}

TEST_CASE("trainer: what is frozen stays frozen, through evaluate too", "[trainer]") {
  Sequential net(Conv2d(1, 4, 5), BatchNorm2d(4), Flatten(), Linear(4 * 24 * 24, 10));
  net.child("1").eval();
  net.child("0").parameter("weight").requires_grad(false);
  const std::vector<float> mean = net.child("1").buffer("running_mean").to_vector<float>();
  const std::vector<float> weight = net.child("0").parameter("weight").to_vector<float>();
  const std::vector<float> fc = net.child("3").parameter("weight").to_vector<float>();
  DataLoader train(part_of_mnist(MnistPart::train, 128), {.batch_size = 64});
  DataLoader test(part_of_mnist(MnistPart::test, 64), {.batch_size = 64});
  Trainer(net, train, test, {.epochs = 2}).run();
  CHECK(net.training());
  CHECK_FALSE(net.child("1").training());
  CHECK(net.child("1").buffer("running_mean").to_vector<float>() == mean);
  CHECK(net.child("0").parameter("weight").to_vector<float>() == weight);
  CHECK_FALSE(net.child("3").parameter("weight").to_vector<float>() == fc);

  Sequential few(Flatten(), Linear(784, 4));  // labels up to 9 for 4 classes
  CHECK_THROWS_AS(evaluate(few, test), Error);
  CHECK(few.training());
}

TEST_CASE("trainer: a loss that is not finite names step and place", "[trainer]") {
  const std::shared_ptr<Module> net = zoo_entry("lenet").make(10);
  DataLoader train(part_of_mnist(MnistPart::train, 64), {.batch_size = 64});
  DataLoader test(part_of_mnist(MnistPart::test, 64), {.batch_size = 64});
  const Trainer::Report untouched = Trainer(*net, train, test, {.sgd = {.lr = 0.01}}).run();
  CHECK(untouched.epochs.size() == 1);

  test::set_value(net->child("ip1").parameter("bias"), 7, std::numeric_limits<float>::quiet_NaN());
  CHECK_THROWS_WITH(Trainer(*net, train, test, {}).run(), Contains("step 1") && Contains("ip1.bias"));

  // Finite weights whose products are not.
  const std::shared_ptr<Module> large = zoo_entry("lenet").make(10);
  const Tensor weight = large->child("conv2").parameter("weight");
  weight.copy_from(full(weight.shape(), 3e38));
  CHECK_THROWS_WITH(Trainer(*large, train, test, {}).run(), Contains("output of conv2 (Conv2d)"));
}

// Two heads that share a layer; only the loss of the second one moves `aux`.
struct TwoHeads : Block {
  TwoHeads() {
    add("flatten", Flatten());
    add("body", Linear(784, 16));
    add("relu", ReLU());
    add("fc", Linear(16, 10));
    add("aux", Linear(16, 10));
  }
  Tensor forward(const Tensor& x) override { return chain(x, {"flatten", "body", "relu", "fc"}); }
  TensorList forward_heads(const Tensor& x) override {
    const Tensor y = chain(x, {"flatten", "body", "relu"});
    return {child("fc")(y), child("aux")(y)};
  }
  std::vector<double> head_weights() const override { return {1, 0.25}; }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
};

TEST_CASE("trainer: auxiliary heads are trained with their weights", "[trainer]") {
  manual_seed(1);
  TwoHeads net;
  DataLoader train(part_of_mnist(MnistPart::train, 64), {.batch_size = 64});
  DataLoader test(part_of_mnist(MnistPart::test, 64), {.batch_size = 64});
  Batch batch;
  train.start_epoch(0);
  train.next(batch);
  const Tensor main = cross_entropy(net(batch.images), batch.labels);
  const double aux = cross_entropy(net.heads(batch.images)[1], batch.labels).item();
  const std::vector<float> before = net.child("aux").parameter("weight").to_vector<float>();
  const Trainer::Report report = Trainer(net, train, test, {.sgd = {.lr = 0.1}}).run();
  CHECK(report.epochs[0].train_loss == Approx(main.item() + 0.25 * aux).epsilon(1e-6));
  const std::vector<float> after = net.child("aux").parameter("weight").to_vector<float>();
  const std::vector<float> gradient = net.child("aux").parameter("weight").grad().to_vector<float>();
  double largest = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    largest = std::max<double>(largest, std::abs(gradient[i]));
    CHECK(std::abs(after[i] - (before[i] - 0.1F * gradient[i])) <= 1e-6F);
  }
  CHECK(largest > 1e-3);
}

// The batch is normalized well, but the variance of the first channel is no float.
TEST_CASE("trainer: a buffer that is not finite is found before weights are written", "[trainer]") {
  const TemporaryFolder folder;
  ImageDataset pictures = part_of_mnist(MnistPart::train, 64);
  DataLoader train(pictures, {.batch_size = 64}), test(pictures, {.batch_size = 64});
  Sequential net(Conv2d(1, 2, 5), BatchNorm2d(2), Flatten(), Linear(2 * 24 * 24, 10));
  const Tensor variance = net.child("1").buffer("running_var");
  variance.copy_from(full({2}, std::numeric_limits<float>::infinity()));
  const std::string out = folder.path("run");
  CHECK_THROWS_WITH(Trainer(net, train, test, {.out = out}).run(),
                    Contains("1.running_var has values that are not finite after step 1"));
  CHECK_FALSE(std::filesystem::exists(out + "/weights.safetensors"));
}

TEST_CASE("trainer: the search for a non-finite value leaves no hooks, though forward throws", "[trainer]") {
  Sequential net(Linear(4, 3), ReLU());
  CHECK_THROWS_AS(describe_non_finite(net, ones({1, 5})), Error);
  for (const NamedModule& m : net.named_modules()) CHECK(!m.module->has_hooks());
  CHECK(describe_non_finite(net, ones({1, 4})).starts_with("all layers are finite"));
}

// The head's result is made outside of any module.
struct LostHead : Block {
  LostHead() { add("fc", Linear(4, 2)); }
  Tensor forward(const Tensor& x) override { return child("fc")(x); }
  TensorList forward_heads(const Tensor& x) override {
    const Tensor y = child("fc")(x);
    return {y, y / zeros({2})};
  }
  std::vector<double> head_weights() const override { return {1, 1}; }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
};

TEST_CASE("trainer: the search for a non-finite value looks at each head", "[trainer]") {
  LostHead net;
  CHECK(describe_non_finite(net, ones({1, 4})).starts_with("the result of head 1"));
}

TEST_CASE("trainer: stops when asked and reports what it has", "[trainer]") {
  const std::shared_ptr<Module> net = zoo_entry("mnist_cnn").make(10);
  DataLoader train(part_of_mnist(MnistPart::train, 640), {.batch_size = 64});
  DataLoader test(part_of_mnist(MnistPart::test, 64), {.batch_size = 64});
  int steps = 0;
  Trainer trainer(*net, train, test, {.epochs = 5, .should_stop = [&] { return ++steps > 3; }});
  const Trainer::Report report = trainer.run();
  CHECK(report.stopped);
  CHECK(report.epochs.size() == 1);
  CHECK(report.epochs[0].iterations == 4);
}

}  // namespace
}  // namespace dnn
