#include "cpu_rows.h"
#include "gradients.h"

// The unary functions that are no activations; power_test.cpp has the powers.
namespace dnn::test {
namespace {

const float kInf = std::numeric_limits<float>::infinity(), kNan = std::nanf("");

struct Function {
  std::string name;
  UnaryParams f;
  bool of_positive = false;  // NaN of negative numbers
};

std::vector<Function> functions() {
  return {{"affine", {UnaryOp::affine, -1.5, 0}},
          {"divide", {UnaryOp::divide, 3}},
          {"reciprocal", {UnaryOp::reciprocal, -2}},
          {"square", {UnaryOp::square}},
          {"clamp", {UnaryOp::clamp, -0.25, 0.5}},
          {"abs", {UnaryOp::abs}},
          {"neg", {UnaryOp::neg}},
          {"sign", {UnaryOp::sign}},
          {"floor", {UnaryOp::floor}},
          {"ceil", {UnaryOp::ceil}},
          {"round", {UnaryOp::round}},
          {"exp", {UnaryOp::exp}},
          {"expm1", {UnaryOp::expm1}},
          {"log", {UnaryOp::log}, true},
          {"log1p", {UnaryOp::log1p}},
          {"sqrt", {UnaryOp::sqrt}, true},
          {"rsqrt", {UnaryOp::rsqrt}, true},
          {"sin", {UnaryOp::sin}},
          {"cos", {UnaryOp::cos}},
          {"erf", {UnaryOp::erf}}};
}

void forward(const Backend& row, const UnaryParams& f, const Buffer<float>& x, Buffer<float>& y) {
  Context context(row);
  row.f32.unary_forward(context, f, x.size(), x.get(), y.get());
}

// The operand that the backward kernel takes.
const float* saved_of(const UnaryParams& f, const Buffer<float>& x, const Buffer<float>& y) {
  if (constant_slope(f.op)) return nullptr;
  return slope_from_output(f) ? y.get() : x.get();
}

void backward(const Backend& row, const UnaryParams& f, const float* saved, const Buffer<float>& dy,
              Buffer<float>& dx) {
  Context context(row);
  row.f32.unary_backward(context, f, dy.size(), saved, dy.get(), dx.get());
}

TEST_CASE("unary: values as torch gives them", "[unary]") {
  struct Case {
    UnaryParams f;
    std::vector<float> y, dx;  // at x = -2.5, -0.5, 0, 0.5, 1.5, upstream ones
  };
  const std::vector<Case> cases{
      {{UnaryOp::affine, -3, 2}, {9.5f, 3.5f, 2, 0.5f, -2.5f}, {-3, -3, -3, -3, -3}},
      {{UnaryOp::divide, 4}, {-0.625f, -0.125f, 0, 0.125f, 0.375f}, {0.25f, 0.25f, 0.25f, 0.25f, 0.25f}},
      {{UnaryOp::reciprocal, 2}, {-0.8f, -4, kInf, 4, 1.3333333f}, {-0.32f, -8, -kInf, -8, -0.88888889f}},
      {{UnaryOp::square}, {6.25f, 0.25f, 0, 0.25f, 2.25f}, {-5, -1, 0, 1, 3}},
      {{UnaryOp::clamp, -0.5, 1.5}, {-0.5f, -0.5f, 0, 0.5f, 1.5f}, {0, 1, 1, 1, 1}},
      {{UnaryOp::clamp, 1, -1}, {-1, -1, -1, -1, -1}, {0, 0, 0, 0, 0}},
      {{UnaryOp::abs}, {2.5f, 0.5f, 0, 0.5f, 1.5f}, {-1, -1, 0, 1, 1}},
      {{UnaryOp::neg}, {2.5f, 0.5f, 0, -0.5f, -1.5f}, {-1, -1, -1, -1, -1}},
      {{UnaryOp::sign}, {-1, -1, 0, 1, 1}, {0, 0, 0, 0, 0}},
      {{UnaryOp::floor}, {-3, -1, 0, 0, 1}, {0, 0, 0, 0, 0}},
      {{UnaryOp::ceil}, {-2, 0, 0, 1, 2}, {0, 0, 0, 0, 0}},
      {{UnaryOp::round}, {-2, 0, 0, 0, 2}, {0, 0, 0, 0, 0}},
      {{UnaryOp::exp},
       {0.0820849986f, 0.6065306597f, 1, 1.6487212707f, 4.4816890703f},
       {0.0820849986f, 0.6065306597f, 1, 1.6487212707f, 4.4816890703f}},
      {{UnaryOp::expm1},
       {-0.9179150014f, -0.3934693403f, 0, 0.6487212707f, 3.4816890703f},
       {0.0820849986f, 0.6065306597f, 1, 1.6487212707f, 4.4816890703f}},
      {{UnaryOp::log}, {kNan, kNan, -kInf, -0.6931471806f, 0.4054651081f}, {-0.4f, -2, kInf, 2, 0.6666666667f}},
      {{UnaryOp::log1p},
       {kNan, -0.6931471806f, 0, 0.4054651081f, 0.9162907319f},
       {-0.6666666667f, 2, 1, 0.6666666667f, 0.4f}},
      {{UnaryOp::sqrt},
       {kNan, kNan, 0, 0.7071067812f, 1.2247448714f},
       {kNan, kNan, kInf, 0.7071067812f, 0.4082482905f}},
      {{UnaryOp::rsqrt},
       {kNan, kNan, kInf, 1.4142135624f, 0.8164965809f},
       {kNan, kNan, -kInf, -1.4142135624f, -0.2721655270f}},
      {{UnaryOp::sin},
       {-0.5984721441f, -0.4794255386f, 0, 0.4794255386f, 0.9974949866f},
       {-0.8011436155f, 0.8775825619f, 1, 0.8775825619f, 0.0707372017f}},
      {{UnaryOp::cos},
       {-0.8011436155f, 0.8775825619f, 1, 0.8775825619f, 0.0707372017f},
       {0.5984721441f, 0.4794255386f, 0, -0.4794255386f, -0.9974949866f}},
      {{UnaryOp::erf},
       {-0.9995930480f, -0.5204998778f, 0, 0.5204998778f, 0.9661051465f},
       {0.0021782842f, 0.8787825789f, 1.1283791671f, 0.8787825789f, 0.1189302892f}},
  };
  const auto check = [](const Buffer<float>& got, const std::vector<float>& expected) {
    got.check_guards();
    for (int i = 0; i < 5; ++i) {
      INFO("element " << i << ": " << got[i] << " for " << expected[i]);
      if (std::isfinite(expected[i])) {
        CHECK(std::abs(got[i] - expected[i]) <= 1e-6f * std::max(1.0f, std::abs(expected[i])));
      } else {
        CHECK((std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i]));
      }
    }
  };
  const Buffer<float> x({-2.5f, -0.5f, 0, 0.5f, 1.5f}), dy({1, 1, 1, 1, 1});
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    for (const Case& c : cases) {
      INFO(row->name << ", function " << static_cast<int>(c.f.op));
      Buffer<float> y(5), dx(5);
      forward(*row, c.f, x, y);
      check(y, c.y);
      backward(*row, c.f, saved_of(c.f, x, y), dy, dx);
      check(dx, c.dx);
    }
  }
}

TEST_CASE("unary: every row against the reference", "[unary]") {
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    for (const int count : {0, 1, 3, 7, 8, 9, 15, 16, 17, 33, 40003}) {
      for (const double range : {1e-4, 1.0, 15.0, 3000.0}) {
        Buffer<float> x = Buffer<float>::random(count, 1);
        for (int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(x[i] * range);
        const auto dy = Buffer<float>::random(count, 2);
        for (const Function& function : functions()) {
          INFO(row->name << ", " << function.name << ", " << count << " values within " << range);
          const UnaryParams& f = function.f;
          Buffer<float> in = x, y(count), dx(count);
          if (function.of_positive) in = absolute(x);
          if (f.op == UnaryOp::log1p)
            std::replace_if(
                in.get(), in.get() + count, [](float v) { return v < -1; }, 0.5f);
          if (f.op == UnaryOp::exp || f.op == UnaryOp::expm1) {
            std::replace_if(
                in.get(), in.get() + count, [](float v) { return v > 80; }, 80.0f);
          }
          forward(*row, f, in, y);
          Context reference(reference_row());
          Buffer<double> y64(count), dx64(count);
          reference_row().f64.unary_forward(reference, f, count, convert<double>(in).get(), y64.get());
          check_close(y, y64, absolute(y64), 1);
          const float* saved = saved_of(f, in, y);
          backward(*row, f, saved, dy, dx);
          const Buffer<double> saved64 =
              convert<double>(saved ? Buffer<float>(std::vector<float>(saved, saved + count)) : y);
          reference_row().f64.unary_backward(reference, f, count, saved64.get(), convert<double>(dy).get(), dx64.get());
          check_close(dx, dx64, absolute(dx64), 1);

          // In place.
          Buffer<float> dx_there = dy;
          backward(*row, f, saved, dx_there, dx_there);
          REQUIRE(dx_there.values() == dx.values());
          forward(*row, f, in, in);
          in.check_guards();
          REQUIRE(in.values() == y.values());
        }
      }
    }
  }
}

// A few mantissas of every exponent, denormals among them, both signs.
std::vector<float> all_sizes() {
  std::vector<float> values{0.0f, -0.0f, kInf, -kInf, kNan, std::numeric_limits<float>::max()};
  for (int exponent = -149; exponent < 128; ++exponent) {
    for (const double mantissa : {1.0, 1.25, 1.5707963, 1.9999999}) {
      values.push_back(static_cast<float>(std::ldexp(mantissa, exponent)));
      values.push_back(-values.back());
    }
  }
  for (int i = -1100; i < 1100; ++i) values.push_back(0.1f * static_cast<float>(i));  // where exp is finite
  for (int i = 1; i < 100; ++i) values.push_back(static_cast<float>(i * M_PI / 2));   // where sin or cos is small
  return values;
}

// As float, also where the exact number is beyond it.
void check_float(float got, double exact) {
  const double largest = std::numeric_limits<float>::max();
  if (std::isnan(exact)) {
    REQUIRE(std::isnan(got));
  } else if (std::abs(exact) > largest * (1 - 1e-6)) {
    REQUIRE((std::signbit(got) == std::signbit(exact) && std::abs(got) > largest * (1 - 2e-6)));
  } else {
    const double allowed = 8 * std::numeric_limits<float>::epsilon() * std::abs(exact);
    REQUIRE(std::abs(got - exact) <= allowed + std::numeric_limits<float>::min());
  }
}

TEST_CASE("unary: numbers of all sizes", "[unary]") {
  const Buffer<float> x(all_sizes());
  const int64_t count = x.size();
  const Buffer<float> dy(count, 1);
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    for (const Function& function : functions()) {
      const UnaryParams& f = function.f;
      Buffer<float> y(count), dx(count);
      Buffer<double> y64(count), dx64(count);
      Context reference(reference_row());
      forward(*row, f, x, y);
      reference_row().f64.unary_forward(reference, f, count, convert<double>(x).get(), y64.get());
      const float* saved = saved_of(f, x, y);
      backward(*row, f, saved, dy, dx);
      const Buffer<double> saved64 =
          convert<double>(saved ? Buffer<float>(std::vector<float>(saved, saved + count)) : y);
      reference_row().f64.unary_backward(reference, f, count, saved64.get(), convert<double>(dy).get(), dx64.get());
      for (int64_t i = 0; i < count; ++i) {
        INFO(row->name << ", " << function.name << " of " << x[i] << ": " << y[i] << " for " << y64[i] << ", slope "
                       << dx[i] << " for " << dx64[i]);
        check_float(y[i], y64[i]);
        check_float(dx[i], dx64[i]);
      }
    }
  }
}

TEST_CASE("unary: halves are rounded to even, also where x + 0.5 is not exact", "[unary]") {
  const Buffer<float> x({0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.49999997f, -0.49999997f, 8388607.5f, 8388609.0f});
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    INFO(row->name);
    Buffer<float> y(x.size());
    forward(*row, {UnaryOp::round}, x, y);
    check_values<float>(y, {0, 2, 2, 0, -2, -2, 0, 0, 8388608, 8388609}, 0);
  }
}

TEST_CASE("unary: a product keeps the sign of a 0", "[unary]") {
  const Buffer<float> x({0.0f, -0.0f});
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    INFO(row->name);
    Buffer<float> y(2);
    forward(*row, {UnaryOp::affine, 2, -0.0}, x, y);
    CHECK((!std::signbit(y[0]) && std::signbit(y[1])));
  }
}

TEST_CASE("unary: results larger than the caches", "[unary][memory_bound]") {
  const int64_t count = (int64_t{9} << 20) + 5;
  for (const Backend* row : cpu_rows()) {
    INFO(row->name);
    Context context(*row);
    const Aligned x(*row, count), y(*row, count);
    const auto x_at = [](int64_t i) { return static_cast<float>(i % 1013) - 500; };
    for (int64_t i = 0; i < count; ++i) x.get()[i] = x_at(i);
    row->f32.unary_forward(context, Activation::relu, count, x.get(), y.get());
    CHECK(y.first_other_than([&](int64_t i) { return std::max(x_at(i), 0.0f); }) == -1);
    row->f32.unary_backward(context, {UnaryOp::square}, count, x.get(), x.get(), y.get());
    CHECK(y.first_other_than([&](int64_t i) { return 2 * x_at(i) * x_at(i); }) == -1);
    row->f32.unary_backward(context, {UnaryOp::affine, 3}, count, nullptr, x.get(), y.get());
    CHECK(y.first_other_than([&](int64_t i) { return 3 * x_at(i); }) == -1);
  }
}

TEST_CASE("unary: slopes by differences", "[unary]") {
  const Backend& row = reference_row();
  Context context(row);
  for (const Function& function : functions()) {
    INFO(function.name);
    const UnaryParams& f = function.f;
    auto x = Buffer<double>::random(9, 1);
    const auto dy = Buffer<double>::random(9, 2);
    if (function.of_positive) x = absolute(x);
    Buffer<double> y(9), dx(9);
    row.f64.unary_forward(context, f, 9, x.get(), y.get());
    row.f64.unary_backward(context, f, 9, slope_from_output(f) ? y.get() : x.get(), dy.get(), dx.get());
    if (f.op == UnaryOp::sign || f.op == UnaryOp::floor || f.op == UnaryOp::ceil || f.op == UnaryOp::round) {
      CHECK(dx.values() == std::vector<double>(9, 0));
      continue;
    }
    check_gradient(dx, central_differences(x, dy, [&](const double* in, double* out) {
                     row.f64.unary_forward(context, f, 9, in, out);
                   }));
  }
}

}  // namespace
}  // namespace dnn::test
