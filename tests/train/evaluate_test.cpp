#include <catch2/catch.hpp>
#include <limits>

#include <libdnn/dnn.h>

#include "../set_value.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

// Ten samples of two numbers, of which one can be spoiled.
class Numbers : public Dataset {
 public:
  int64_t size() const override { return 10; }
  Batch load(const std::vector<int32_t>& samples, RandomState, const Device& device) override {
    std::vector<float> values;
    for (const int32_t i : samples) {
      values.push_back(i == spoiled ? by : 1);
      values.push_back(static_cast<float>(i % 2));
    }
    const int count = static_cast<int>(samples.size());
    return {from_vector(values, {count, 2}, device), zeros({count}, DType::int32, device)};
  }
  int32_t spoiled = -1;
  float by = std::numeric_limits<float>::quiet_NaN();
};

TEST_CASE("evaluate: a loss that is not finite names the batch, its samples and the place", "[evaluate]") {
  const auto set = std::make_shared<Numbers>();
  DataLoader loader(set, {.batch_size = 4});
  manual_seed(1);
  Sequential net(Linear(2, 3), ReLU(), Linear(3, 2));
  net.train();
  const Evaluation sound = evaluate(net, loader);
  CHECK(sound.samples == 10);
  CHECK(sound.loss() > 0);
  CHECK(sound.loss() < 10);

  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    set->spoiled = 5;
    set->by = value;
    CHECK_THROWS_WITH(evaluate(net, loader), Contains("[evaluate]") && Contains("batch 2 of 3") &&
                                                 Contains("samples 5 to 8") && Contains("the input has"));
    set->spoiled = 9;
    CHECK_THROWS_WITH(evaluate(net, loader), Contains("batch 3 of 3") && Contains("samples 9 to 10"));
    CHECK(net.training());
  }
  set->spoiled = -1;
  CHECK(evaluate(net, loader).loss() == sound.loss());

  // A net that has diverged: a weight, or products of finite weights.
  test::set_value(net.child("2").parameter("bias"), 1, std::numeric_limits<float>::quiet_NaN());
  CHECK_THROWS_WITH(evaluate(net, loader), Contains("batch 1 of 3") && Contains("2.bias"));
  Sequential large(Linear(2, 3), ReLU(), Linear(3, 2));
  for (const char* layer : {"0", "2"}) {
    const Tensor weight = large.child(layer).parameter("weight");
    weight.copy_from(full(weight.shape(), 3e38));
  }
  CHECK_THROWS_WITH(evaluate(large, loader), Contains("batch 1 of 3") && Contains("in the output of 0 (Linear)"));
}

TEST_CASE("evaluate: a set that gives no sample is an error", "[evaluate]") {
  DataLoader loader(std::make_shared<Numbers>(), {.batch_size = 11, .drop_last = true});
  Sequential net(Linear(2, 2));
  CHECK_THROWS_WITH(evaluate(net, loader), Contains("[evaluate]") && Contains("no batch"));
  CHECK(net.training());
}

}  // namespace
}  // namespace dnn
