#include "gradients.h"

namespace dnn::test {
namespace {

UnaryParams power_of(double power, double scale, double shift) { return {UnaryOp::pow, power, scale, shift}; }

struct Case {
  double power, scale, shift;
  std::vector<float> y, dx;  // at x = 1, 4, -2; upstream (1, 1, 3)
};

TEST_CASE("power: values by hand", "[power]") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<Case> cases{
      {1, 2, 3, {5, 11, -1}, {2, 2, 6}},
      {2, 1, 0, {1, 16, 4}, {2, 8, -12}},
      {3, 2, 1, {27, 729, -27}, {54, 486, 162}},
      {0, 2, 1, {1, 1, 1}, {0, 0, 0}},
      {-1, 1, 1, {0.5f, 0.2f, -1}, {-0.25f, -0.04f, -3}},
      {0.5, 1, 2, {1.7320508f, 2.4494897f, 0}, {0.28867513f, 0.20412415f, inf}},
      {-0.75, 3, 10, {0.14606376f, 0.09844258f, 0.35355339f}, {-0.02528064f, -0.01006738f, -0.59662135f}},
      {0.3, 1, 3, {1.51571657f, 1.79279008f, 1}, {0.11367874f, 0.07683386f, 0.9f}},
      {17, 1, 0.5, {985.26125f, 1.27236799e11f, -985.26125f}, {11166.2942f, 4.80672351e11f, 33498.8826f}},
  };
  const Buffer<float> x({1, 4, -2}), dy({1, 1, 3});
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    for (const Case& c : cases) {
      INFO(row->name << ", power " << c.power);
      Context context(*row);
      Buffer<float> y(3), dx(3);
      row->f32.unary_forward(context, power_of(c.power, c.scale, c.shift), 3, x.get(), y.get());
      check_values<float>(y, c.y, 2e-6);
      row->f32.unary_backward(context, power_of(c.power, c.scale, c.shift), 3, x.get(), dy.get(), dx.get());
      if (c.dx[2] == inf) {
        CHECK(dx[2] == inf);
        dx[2] = 1;
        check_values<float>(dx, {c.dx[0], c.dx[1], 1});
      } else {
        check_values<float>(dx, c.dx, 2e-6);
      }
    }
  }
}

TEST_CASE("power: every row against the reference", "[power]") {
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    for (const double power : {-3.0, -1.0, -0.75, -0.4, 0.0, 0.25, 0.5, 0.75, 1.0, 1.3, 2.0, 3.0, 7.25, 40.0}) {
      for (const int count : {0, 1, 3, 7, 8, 9, 15, 16, 17, 33, 40001}) {
        INFO(row->name << ", power " << power << ", " << count << " values");
        Context context(*row), reference(reference_row());
        const UnaryParams params = power_of(power, 0.7, 1.2);
        const auto x = Buffer<float>::random(count, 1), dy = Buffer<float>::random(count, 2);
        Buffer<float> y(count), dx(count);
        Buffer<double> y64(count), dx64(count), scale(count);
        row->f32.unary_forward(context, params, count, x.get(), y.get());
        reference_row().f64.unary_forward(reference, params, count, convert<double>(x).get(), y64.get());
        // An error of the base counts as often as the power says.
        const double length = std::max(1.0, 36 * power * power);
        check_close(y, y64, absolute(y64), length);
        row->f32.unary_backward(context, params, count, x.get(), dy.get(), dx.get());
        reference_row().f64.unary_backward(reference, params, count, convert<double>(x).get(),
                                           convert<double>(dy).get(), dx64.get());
        check_close(dx, dx64, absolute(dx64), std::max(36.0, length));
      }
    }
  }
}

TEST_CASE("power: zero, infinities, NaN and negative numbers as std::pow has them", "[power]") {
  const float inf = std::numeric_limits<float>::infinity();
  const Buffer<float> x({0, inf, std::nanf(""), -2, 0.5f, 1, 3, 2, 1, -inf, -0.0f, -1, -0.5f, 1e30f, -1e30f, -3e38f});
  const int count = static_cast<int>(x.size());
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    for (const double power : {-20.0, -3.0, -2.0, -1.0, -0.75, -0.5, -0.1,  0.0,         0.1,          1 / 3.0,
                               0.5,   1.0,  2.0,  2.5,  3.0,   17.0, 100.0, double{inf}, double{-inf}, std::nan("")}) {
      INFO(row->name << ", power " << power);
      Context context(*row);
      Buffer<float> y(count);
      row->f32.unary_forward(context, power_of(power, 1, -0.0), count, x.get(), y.get());
      for (int i = 0; i < count; ++i) {
        const float expected = static_cast<float>(std::pow(double{x[i]}, power));
        INFO(x[i] << ": " << y[i] << " instead of " << expected);
        if (std::isnan(expected)) {
          CHECK(std::isnan(y[i]));
        } else if (std::isinf(expected) || expected == 0) {
          CHECK((y[i] == expected && std::signbit(y[i]) == std::signbit(expected)));
        } else {
          CHECK(std::abs(y[i] - expected) <= 2e-6f * std::abs(expected) + std::numeric_limits<float>::min());
        }
      }
    }
  }
}

TEST_CASE("power: gradient by differences", "[power]") {
  const Backend& row = reference_row();
  Context context(row);
  for (const double power : {-0.75, 0.5, 2.0, 3.3}) {
    const UnaryParams params = power_of(power, 0.7, 1.2);
    const auto x = Buffer<double>::random(9, 1), dy = Buffer<double>::random(9, 2);
    Buffer<double> dx(9);
    row.f64.unary_backward(context, params, 9, x.get(), dy.get(), dx.get());
    check_gradient(dx, central_differences(x, dy, [&](const double* in, double* out) {
                     row.f64.unary_forward(context, params, 9, in, out);
                   }));
  }
}

}  // namespace
}  // namespace dnn::test
