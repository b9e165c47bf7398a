#include "gradients.h"

namespace dnn::test {
namespace {

LrnShape lrn_shape(int64_t rows, int cols, int size, double alpha, double beta, double k) {
  return {rows, cols, size, alpha, beta, k};
}

TEST_CASE("lrn: values by hand", "[lrn]") {
  for (const Backend* row : rows_with(&Kernels<float>::lrn_forward)) {
    INFO(row->name);
    Context context(*row);
    // A window of more than the channels: s = 1 + 14 / 7 = 3 everywhere.
    const Buffer<float> x({1, 2, 3});
    Buffer<float> y(3), dx(3);
    row->f32.lrn_forward(context, lrn_shape(1, 3, 7, 1, 0.75, 1), x.get(), y.get());
    check_values<float>(y, {0.438691f, 0.877383f, 1.316074f});
    // dy = (1, 0, 0): dx = dy * 3^-.75 - 2 * .75 / 7 * x * 3^-1.75
    const Buffer<float> dy({1, 0, 0});
    row->f32.lrn_backward(context, lrn_shape(1, 3, 7, 1, 0.75, 1), x.get(), dy.get(), dx.get());
    check_values<float>(dx, {0.407356f, -0.062670f, -0.094005f});
    // Two channels: the one before and itself; s = 2 + sum of squares.
    row->f32.lrn_forward(context, lrn_shape(1, 3, 2, 2, 1, 2), x.get(), y.get());
    check_values<float>(y, {1.0f / 3, 2.0f / 7, 3.0f / 15});
    // Three: s = (6, 15, 14), the root of it.
    row->f32.lrn_forward(context, lrn_shape(1, 3, 3, 3, 0.5, 1), x.get(), y.get());
    check_values<float>(y, {0.408248f, 0.516398f, 0.801784f});
  }
}

void check_row(const Backend& row, const LrnShape& shape) {
  INFO(row.name << ", " << shape.rows << " rows of " << shape.cols << ", size " << shape.size << ", beta "
                << shape.beta);
  Context context(row), reference(reference_row());
  auto x64 = Buffer<double>::random(shape.count(), 1);
  for (int64_t i = 0; i < shape.count(); ++i) x64[i] *= 4;
  const auto x = convert<float>(x64), dy = Buffer<float>::random(shape.count(), 2);
  const auto dy64 = convert<double>(dy);
  x64 = convert<double>(x);
  Buffer<double> y64(shape.count()), dx64(shape.count());
  reference_row().f64.lrn_forward(reference, shape, x64.get(), y64.get());
  reference_row().f64.lrn_backward(reference, shape, x64.get(), dy64.get(), dx64.get());
  Buffer<float> y(shape.count()), dx(shape.count());
  row.f32.lrn_forward(context, shape, x.get(), y.get());
  check_close(y, y64, absolute(y64), 1);
  row.f32.lrn_backward(context, shape, x.get(), dy.get(), dx.get());
  check_close(dx, dx64, 2, 1);
}

TEST_CASE("lrn: every row against the reference", "[lrn]") {
  for (const Backend* row : rows_with(&Kernels<float>::lrn_forward)) {
    for (const int cols : odd_sizes()) {
      for (const int size : {1, 2, 3, 4, 5, 7, 40}) {
        check_row(*row, lrn_shape(19, cols, size, 0.7, 0.75, 1));
        check_row(*row, lrn_shape(3, cols, size, 0.7, 0.6, 2));
      }
      check_row(*row, lrn_shape(0, cols, 5, 1, 0.75, 1));
    }
    for (const double beta : {0.25, 0.5, 1.0, 2.0, 0.3}) check_row(*row, lrn_shape(50, 21, 5, 0.5, beta, 1.5));
    check_row(*row, lrn_shape(3001, 96, 5, 1e-4, 0.75, 1));
    check_row(*row, lrn_shape(3, 10007, 5, 1, 0.75, 1));
  }
}

TEST_CASE("lrn: gradient by differences", "[lrn]") {
  const Backend& row = reference_row();
  Context context(row);
  for (const int size : {2, 5, 9}) {
    const LrnShape shape = lrn_shape(3, 7, size, 1.3, 0.75, 1.1);
    const auto x = Buffer<double>::random(21, 1), dy = Buffer<double>::random(21, 2);
    Buffer<double> dx(21);
    row.f64.lrn_backward(context, shape, x.get(), dy.get(), dx.get());
    check_gradient(dx, central_differences(x, dy, [&](const double* in, double* out) {
                     row.f64.lrn_forward(context, shape, in, out);
                   }));
  }
}

TEST_CASE("lrn: large values, and a NaN among its neighbours only", "[lrn]") {
  for (const Backend* row : rows_with(&Kernels<float>::lrn_forward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> x(40, 1), y(40);
    x[3] = 1e25f, x[30] = std::nanf("");
    row->f32.lrn_forward(context, lrn_shape(1, 40, 5, 1, 0.75, 1), x.get(), y.get());
    for (int i = 0; i < 40; ++i) REQUIRE(std::isnan(y[i]) == (i >= 28 && i <= 32));
    for (int i = 1; i < 6; ++i) REQUIRE(std::abs(y[i]) < 1e-3f);
  }
}

}  // namespace
}  // namespace dnn::test
