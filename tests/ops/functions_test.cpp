#include "ops_test.h"

#include <libdnn/core/allocator.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/functions.h>
#include <libdnn/ops/reduce.h>

#include <limits>

namespace dnn::test {
namespace {

using Function = Tensor (*)(const Tensor&);
const double kInf = std::numeric_limits<double>::infinity(), kNan = std::nan("");

TEST_CASE("functions: results and slopes as torch gives them", "[ops]") {
  struct Case {
    const char* name;
    std::function<Tensor(const Tensor&)> f;
    std::vector<double> y, dx;  // at x = -inf, -2.5, -0.5, 0, 0.5, 1.5, inf, NaN; upstream ones
  };
  const std::vector<Case> cases{
      {"exp",
       Function(exp),
       {0, 0.0820849986238988, 0.6065306597126334, 1, 1.6487212707001282, 4.4816890703380645, kInf, kNan},
       {0, 0.0820849986238988, 0.6065306597126334, 1, 1.6487212707001282, 4.4816890703380645, kInf, kNan}},
      {"expm1",
       Function(expm1),
       {-1, -0.9179150013761012, -0.3934693402873666, 0, 0.6487212707001282, 3.481689070338065, kInf, kNan},
       {0, 0.08208499862389884, 0.6065306597126334, 1, 1.6487212707001282, 4.481689070338065, kInf, kNan}},
      {"log",
       Function(log),
       {kNan, kNan, kNan, -kInf, -0.6931471805599453, 0.4054651081081644, kInf, kNan},
       {0, -0.4, -2, kInf, 2, 0.6666666666666666, 0, kNan}},
      {"log1p",
       Function(log1p),
       {kNan, kNan, -0.6931471805599453, 0, 0.4054651081081644, 0.9162907318741551, kInf, kNan},
       {0, -0.6666666666666666, 2, 1, 0.6666666666666666, 0.4, 0, kNan}},
      {"sqrt",
       Function(sqrt),
       {kNan, kNan, kNan, 0, 0.7071067811865476, 1.224744871391589, kInf, kNan},
       {kNan, kNan, kNan, kInf, 0.7071067811865475, 0.4082482904638631, 0, kNan}},
      {"rsqrt",
       Function(rsqrt),
       {kNan, kNan, kNan, kInf, 1.414213562373095, 0.8164965809277261, 0, kNan},
       {kNan, kNan, kNan, -kInf, -1.4142135623730947, -0.2721655269759088, 0, kNan}},
      {"abs", Function(abs), {kInf, 2.5, 0.5, 0, 0.5, 1.5, kInf, kNan}, {-1, -1, -1, 0, 1, 1, 1, 0}},
      {"neg", Function(neg), {kInf, 2.5, 0.5, 0, -0.5, -1.5, -kInf, kNan}, {-1, -1, -1, -1, -1, -1, -1, -1}},
      {"sign", Function(sign), {-1, -1, -1, 0, 1, 1, 1, 0}, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"floor", Function(floor), {-kInf, -3, -1, 0, 0, 1, kInf, kNan}, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"ceil", Function(ceil), {-kInf, -2, 0, 0, 1, 2, kInf, kNan}, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"round", Function(round), {-kInf, -2, 0, 0, 0, 2, kInf, kNan}, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"sin",
       Function(sin),
       {kNan, -0.5984721441039565, -0.479425538604203, 0, 0.479425538604203, 0.9974949866040544, kNan, kNan},
       {kNan, -0.8011436155469337, 0.8775825618903728, 1, 0.8775825618903728, 0.0707372016677029, kNan, kNan}},
      {"cos",
       Function(cos),
       {kNan, -0.8011436155469337, 0.8775825618903728, 1, 0.8775825618903728, 0.0707372016677029, kNan, kNan},
       {kNan, 0.5984721441039565, 0.479425538604203, 0, -0.479425538604203, -0.9974949866040544, kNan, kNan}},
      {"erf",
       Function(erf),
       {-1, -0.999593047982555, -0.5204998778130465, 0, 0.5204998778130465, 0.9661051464753108, 1, kNan},
       {0, 0.00217828423035271, 0.8787825789354448, 1.1283791670955126, 0.8787825789354448, 0.11893028922362936, 0,
        kNan}},
      {"reciprocal",
       Function(reciprocal),
       {0, -0.4, -2, kInf, 2, 0.6666666666666666, 0, kNan},
       {0, -0.16, -4, -kInf, -4, -0.4444444444444444, 0, kNan}},
      {"square", Function(square), {kInf, 6.25, 0.25, 0, 0.25, 2.25, kInf, kNan}, {-kInf, -5, -1, 0, 1, 3, kInf, kNan}},
      {"pow 3",
       [](const Tensor& x) { return pow(x, 3); },
       {-kInf, -15.625, -0.125, 0, 0.125, 3.375, kInf, kNan},
       {kInf, 18.75, 0.75, 0, 0.75, 6.75, kInf, kNan}},
      {"pow 0", [](const Tensor& x) { return pow(x, 0); }, {1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"pow -1",
       [](const Tensor& x) { return pow(x, -1); },
       {0, -0.4, -2, kInf, 2, 0.6666666666666666, 0, kNan},
       {0, -0.16, -4, -kInf, -4, -0.4444444444444444, 0, kNan}},
      {"clamp",
       [](const Tensor& x) { return clamp(x, -0.5, 1.5); },
       {-0.5, -0.5, -0.5, 0, 0.5, 1.5, 1.5, kNan},
       {0, 0, 1, 1, 1, 1, 0, 0}},
      {"clamp from below",
       [](const Tensor& x) { return clamp(x, 0); },
       {0, 0, 0, 0, 0.5, 1.5, kInf, kNan},
       {0, 0, 0, 1, 1, 1, 1, 0}},
      {"clamp with its bounds swapped",
       [](const Tensor& x) { return clamp(x, 1, -1); },
       {-1, -1, -1, -1, -1, -1, -1, kNan},
       {0, 0, 0, 0, 0, 0, 0, 0}},
      {"hardtanh",
       [](const Tensor& x) { return hardtanh(x, -0.5, 1); },
       {-0.5, -0.5, -0.5, 0, 0.5, 1, 1, kNan},
       {0, 0, 0, 1, 1, 0, 0, 1}},
      {"2 - x",
       [](const Tensor& x) { return 2.0 - x; },
       {kInf, 4.5, 2.5, 2, 1.5, 0.5, -kInf, kNan},
       {-1, -1, -1, -1, -1, -1, -1, -1}},
      {"2 / x",
       [](const Tensor& x) { return 2.0 / x; },
       {0, -0.8, -4, kInf, 4, 1.3333333333333333, 0, kNan},
       {0, -0.32, -8, -kInf, -8, -0.8888888888888888, 0, kNan}},
  };
  const std::vector<double> values{-kInf, -2.5, -0.5, 0, 0.5, 1.5, kInf, kNan};
  const auto check = [&](const Tensor& t, const std::vector<double>& expected, double tolerance) {
    const std::vector<double> got = values_of(t);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      INFO("at " << values[i] << ": " << got[i] << " for " << expected[i]);
      if (std::isfinite(expected[i])) {
        CHECK(std::abs(got[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i])));
      } else {
        CHECK((std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i]));
      }
    }
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Tensor x = leaf64(values, {2, 4});
    const Tensor y = c.f(x);
    CHECK(y.shape() == x.shape());
    check(y, c.y, 1e-12);
    sum(y).backward();
    check(x.grad(), c.dx, 1e-12);
    for (const std::string& row : float_rows()) {
      INFO("on " << row);
      const Tensor single = float_copy(leaf64(values, {2, 4}), row);
      const Tensor of_single = c.f(single);
      check(of_single, c.y, 1e-6);
      sum(of_single).backward();
      check(single.grad(), c.dx, 1e-6);
    }
  }
}

TEST_CASE("functions: gradients and rows", "[ops]") {
  const auto check = [](auto f, double scale, double shift) {
    for (const Shape& shape : {Shape{7}, Shape{3, 5, 7}, Shape{1, 2, 1, 3, 2, 1}, Shape{}}) {
      check_op([=](const TensorList& in) { return TensorList{f(in[0] * scale + shift)}; }, {random64(shape, 1)});
    }
  };
  check(Function(exp), 3, 0.1);
  check(Function(expm1), 3, 0.1);
  check(Function(log), 1, 1.5);
  check(Function(log1p), 0.8, 0.1);
  check(Function(sqrt), 1, 1.5);
  check(Function(rsqrt), 1, 1.5);
  check(Function(abs), 3, 0);
  check(Function(neg), 3, 0);
  check(Function(sin), 5, 0.1);
  check(Function(cos), 5, 0.1);
  check(Function(erf), 2, 0.1);
  check(Function(reciprocal), 1, 1.5);
  check(Function(square), 3, 0.1);
  check(Function(mish), 4, 0.1);
  check(Function(logsigmoid), 4, 0.1);
  check([](const Tensor& t) { return pow(t, 2.5); }, 1, 1.5);
  check([](const Tensor& t) { return pow(t, -2); }, 1, 1.5);
  check([](const Tensor& t) { return clamp(t, -0.45, 0.62); }, 0.5, 0.1);
  check([](const Tensor& t) { return silu(t, 1.7); }, 3, 0.1);
  check([](const Tensor& t) { return silu(t, -0.8); }, 3, 0.1);
  check([](const Tensor& t) { return gelu(t, GeluApproximate::tanh); }, 3, 0.1);
  check([](const Tensor& t) { return hardtanh(t, -0.45, 0.62); }, 0.5, 0.1);
  check([](const Tensor& t) { return (3.0 - t) / 4.0 + 2.0 / t; }, 1, 1.5);
  check_empty([](const TensorList& in) { return TensorList{exp(in[0]) / 2.0}; }, {random64({3, 0, 2}, 1)}, {3, 0, 2});
}

TEST_CASE("activations: mish, swish and the approximate gelu as torch gives them", "[ops]") {
  const auto check = [](auto f, const std::vector<double>& y, const std::vector<double>& dx) {
    const Tensor x = leaf64({-2.5, -0.5, 0, 0.5, 1.5}, {5});
    const Tensor result = f(x);
    check_values(result, y, 1e-12);
    sum(result).backward();
    check_values(x.grad(), dx, 1e-12);
  };
  check(Function(mish), {-0.19681620390653332, -0.22074377465173, 0, 0.37524521130489513, 1.4033782663958028},
        {-0.10974357275018568, 0.28951067791351226, 0.6, 0.8864243753577273, 1.0884879850078475});
  check([](const Tensor& x) { return gelu(x, GeluApproximate::tanh); },
        {-0.015084266089998577, -0.15428599017485606, 0, 0.34571400982514394, 1.3995715769802328},
        {-0.03795157621266618, 0.13263009646535764, 0.5, 0.8673699035346424, 1.127710793151433});
  check(Function(logsigmoid),
        {-2.5788897342925496, -0.9740769841801067, -0.6931471805599453, -0.4740769841801067, -0.2014132779827524},
        {0.9241418199787564, 0.6224593312018545, 0.5, 0.37754066879814546, 0.18242552380635632});
  // torch: x * sigmoid(2 * x)
  check([](const Tensor& x) { return silu(x, 2); },
        {-0.01673212731071214, -0.13447071068499755, 0, 0.36552928931500245, 1.42886119023365},
        {-0.026547432429665917, 0.07232948812851325, 0.5, 0.9276705118714867, 1.0881041060151695});
}

TEST_CASE("scalar operators: one pass and no other tensor", "[ops]") {
  const Device device("cpu");
  const Tensor x = Tensor({64, 1024}, DType::float32, device);
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = static_cast<float>(i % 7);
  const int64_t bytes = x.numel() * static_cast<int64_t>(sizeof(float)), before = memory_stats(device).allocated_bytes;
  const auto peak = [&](auto f) {
    device.allocator().reset_peak();
    f();
    return memory_stats(device).peak_bytes - before;
  };
  CHECK(peak([&] { return x * 2.0; }) == bytes);
  CHECK(peak([&] { return x + 1.0; }) == bytes);
  CHECK(peak([&] { return 2.0 - x; }) == bytes);
  CHECK(peak([&] { return 1.0 / x; }) == bytes);
  CHECK(peak([&] { return x / 3.0; }) == bytes);
  CHECK(peak([&] { return -x; }) == bytes);
  CHECK(peak([&] { return x * 2.0 + 1.0; }) == 2 * bytes);
  // The gradient of a sum with a number is the upstream one; that of a product is written over it.
  const Tensor leaf = x.detach().requires_grad(true);
  const Tensor y = (leaf * 2.0 + 1.0) / 4.0;
  Tensor upstream(y.shape(), DType::float32, device);
  for (int64_t i = 0; i < y.numel(); ++i) upstream.data<float>()[i] = 1;
  const int64_t live = memory_stats(device).allocated_bytes - before;
  CHECK(peak([&] { y.backward(upstream); }) - live <= 2 * bytes);
  CHECK(leaf.grad().to_vector<float>()[5] == 0.5f);
}

TEST_CASE("scalar operators: exact quotients and signs of 0", "[ops]") {
  for (const std::string& row : float_rows()) {
    INFO(row);
    const Tensor x = from_vector<float>({1, 7, -0.0f}, {3}, row);
    const std::vector<float> thirds = (x / 3.0).to_vector<float>(), doubled = (x * 2.0).to_vector<float>();
    CHECK((thirds[0] == 1 / 3.0f && thirds[1] == 7 / 3.0f));
    CHECK(std::signbit(doubled[2]));
  }
}

TEST_CASE("functions: bad input", "[ops]") {
  const Tensor x = rand({2}), whole({2}, DType::int32);
  CHECK_THROWS_WITH(clamp(x, kNan, 1), "[clamp] min and max must be numbers; got nan and 1");
  CHECK_THROWS_WITH(clamp(x, 0, kNan), "[clamp] min and max must be numbers; got 0 and nan");
  CHECK_THROWS_WITH(exp(whole), Contains("[exp]") && Contains("int32"));
  CHECK_THROWS_WITH(whole * 2.0, Contains("[mul]") && Contains("int32"));
  CHECK_THROWS_WITH(log(Tensor()), Contains("before it was given a value"));
}

}  // namespace
}  // namespace dnn::test
