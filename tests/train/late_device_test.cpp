#include <catch2/catch.hpp>
#include <limits>
#include <thread>

#include <libdnn/dnn.h>

#include "../default_device.h"
#include "../fake_device.h"

// Training on a device whose kernels run late, against the reference, whose kernels it has.
namespace dnn {
namespace {

using Catch::Matchers::Contains;
using test::fake_synchronizations;

// 40 pictures of noise, one of which can be spoiled, or have a label that is no class.
class Noise : public Dataset {
 public:
  int64_t size() const override { return 40; }
  Batch load(const std::vector<int32_t>& samples, RandomState, const Device& device) override {
    std::vector<float> values;
    std::vector<int32_t> labels;
    for (const int32_t sample : samples) {
      for (int i = 0; i < 36; ++i) values.push_back(static_cast<float>((sample * 37 + i * 11) % 19) / 19);
      if (sample == spoiled) values.back() = std::numeric_limits<float>::quiet_NaN();
      labels.push_back(sample == mislabeled ? 5 : sample % 3);
    }
    const int count = static_cast<int>(samples.size());
    return {from_vector(values, {count, 6, 6, 1}, device), from_vector(labels, {count}, device)};
  }
  int32_t spoiled = -1, mislabeled = -1;
};

struct Run {
  std::vector<EpochReport> epochs;
  std::vector<std::vector<float>> parameters;
  std::vector<double> read;  // the losses that were asked for
  std::string error;
  RandomState random;
};

std::vector<std::vector<float>> values_of(const TensorList& tensors) {
  std::vector<std::vector<float>> values;
  for (const Tensor& t : tensors) values.push_back(t.to_vector<float>());
  return values;
}

Sequential small_net() {
  return Sequential(Conv2d(1, 4, 3), BatchNorm2d(4), ReLU(), Dropout(0.3), Flatten(), Linear(64, 3));
}

// Reads the loss after every `interval` steps, of which an epoch has ten.
Run train(const std::string& device, const std::shared_ptr<Noise>& set, int interval) {
  const test::DefaultDevice on{Device(device)};
  manual_seed(5);
  Sequential net = small_net();
  DataLoader loader(set, {.batch_size = 4, .shuffle = true, .seed = 2});
  DataLoader test(std::make_shared<Noise>(), {.batch_size = 16});
  Run run;
  int steps = 0;
  int64_t waits = 0;
  const auto step = [&](int, const LazyEvaluation& so_far, double) {
    const bool first = steps++ % 10 == 0;
    if (!first && device == "fake") CHECK(fake_synchronizations() == waits);
    if (steps % interval == 0) {
      run.read.push_back(so_far.loss());
      CHECK(so_far.accuracy() >= 0);
    }
    waits = fake_synchronizations();
  };
  try {
    run.epochs =
        Trainer(net, loader, test, {.epochs = 2, .sgd = {.lr = 0.1, .momentum = 0.9}, .events = {.step = step}})
            .run()
            .epochs;
  } catch (const Error& fault) {
    run.error = fault.what();
  }
  run.random = random_state();
  run.parameters = values_of(net.parameters());
  if (run.error.empty()) CHECK(net.child("1").buffer("num_batches_tracked").item() == 20);
  CHECK(std::isfinite(cross_entropy(zeros({1, 3}), zeros({1}, DType::int32)).item()));  // nothing is left behind
  return run;
}

void check_same(const Run& run, const Run& expected) {
  CHECK(run.error == expected.error);
  CHECK(run.parameters == expected.parameters);
  CHECK(run.random.call == expected.random.call);
  REQUIRE(run.epochs.size() == expected.epochs.size());
  for (size_t i = 0; i < run.epochs.size(); ++i) {
    CHECK(run.epochs[i].train_loss == expected.epochs[i].train_loss);
    CHECK(run.epochs[i].train_accuracy == expected.epochs[i].train_accuracy);
    CHECK(run.epochs[i].test_loss == expected.epochs[i].test_loss);
    CHECK(run.epochs[i].test_accuracy == expected.epochs[i].test_accuracy);
  }
}

TEST_CASE("trainer: on a device that runs late the same numbers, and nothing waits between two lines", "[fake]") {
  const auto set = std::make_shared<Noise>();
  for (const int interval : {4, 1000}) {
    const Run expected = train("reference", set, interval), run = train("fake", set, interval);
    CHECK(expected.error.empty());
    CHECK(expected.epochs[1].train_loss < expected.epochs[0].train_loss);
    check_same(run, expected);
    CHECK(run.read == expected.read);
    CHECK(run.read.size() == (interval == 4 ? 5 : 0));
  }
}

TEST_CASE("trainer: a loss that is not finite, known late, has the step and the weights of that step", "[fake]") {
  const auto set = std::make_shared<Noise>();
  for (const int32_t sample : {0, 7, 31}) {
    set->spoiled = sample;
    const Run expected = train("reference", set, 1000);
    CHECK_THAT(expected.error, Contains("[train] the loss is nan in step ") && Contains("the input has"));
    for (const int interval : {1, 3, 1000}) check_same(train("fake", set, interval), expected);
  }
}

// The values are finite, the products of the weights are not; what the dropout drops decides about the layers behind.
TEST_CASE("trainer: the layer of a loss that is not finite, known late", "[fake]") {
  const auto fault = [](const std::string& device) {
    const test::DefaultDevice on{Device(device)};
    manual_seed(5);
    Sequential net = small_net();
    const Tensor weight = net.child("5").parameter("weight");
    weight.copy_from(full(weight.shape(), 3e38));
    DataLoader loader(std::make_shared<Noise>(), {.batch_size = 4}), test(std::make_shared<Noise>(), {});
    try {
      Trainer(net, loader, test, {}).run();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(fault("fake"), Contains("in step 1; ") && Contains("in the output of 5 (Linear)"));
  CHECK(fault("fake") == fault("reference"));
}

TEST_CASE("trainer: a bad label, known late, is told as it is at once", "[fake]") {
  const auto set = std::make_shared<Noise>();
  set->mislabeled = 17;
  const Run expected = train("reference", set, 1000);
  CHECK_THAT(expected.error, Contains("[cross_entropy] label 5 of sample ") && Contains("is outside 0..2"));
  for (const int interval : {1, 4, 1000}) {
    const Run run = train("fake", set, interval);
    CHECK(run.error == expected.error);
    CHECK(run.parameters == expected.parameters);
  }
}

TEST_CASE("evaluate: on a device that runs late", "[fake]") {
  const auto set = std::make_shared<Noise>();
  const auto fault = [&](const std::string& device) {
    const test::DefaultDevice on{Device(device)};
    manual_seed(5);
    Sequential net = small_net();
    DataLoader loader(set, {.batch_size = 6});
    try {
      evaluate(net, loader);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(fault("fake").empty());
  set->spoiled = 20;
  CHECK_THAT(fault("fake"), Contains("batch 4 of 7, samples 19 to 24") && Contains("the input has"));
  CHECK(fault("fake") == fault("reference"));
  set->spoiled = -1;
  set->mislabeled = 20;
  CHECK(fault("fake") == "[cross_entropy] label 5 of sample 2 is outside 0..2");
}

// Neither of the two threads, nor the evaluation within a training, meets the other's fault.
TEST_CASE("trainer: faults of a late device stay with the training that has them", "[fake]") {
  const auto sound = std::make_shared<Noise>(), bad = std::make_shared<Noise>();
  bad->spoiled = 3;
  const test::DefaultDevice on("fake");
  manual_seed(5);
  const auto run = [&](const std::shared_ptr<Noise>& set, Sequential& net, std::string& error) {
    DataLoader loader(set, {.batch_size = 4}, "fake"), clean(sound, {}, "fake");
    const auto step = [&](int, const LazyEvaluation& so_far, double) {
      if (so_far.samples == 24 && !std::isfinite(evaluate(net, clean).loss())) error = "the evaluation is not finite";
    };
    try {
      Trainer(net, loader, clean, {.sgd = {.lr = 0.05}, .events = {.step = step}}).run();
    } catch (const Error& fault) {
      error = fault.what();
    }
  };
  Sequential first(Flatten(), Linear(36, 3)), second = first, alone = first;
  std::string first_error, second_error, none;
  run(sound, alone, none);
  std::thread other([&] { run(bad, second, second_error); });
  run(sound, first, first_error);
  other.join();
  CHECK(none.empty());
  CHECK(first_error.empty());
  CHECK_THAT(second_error, Contains("[train] the loss is nan in step 1;"));
  CHECK(values_of(first.parameters()) == values_of(alone.parameters()));
}

}  // namespace
}  // namespace dnn
