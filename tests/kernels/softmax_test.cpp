#include "gradients.h"

namespace dnn::test {
namespace {

const auto kSoftmax = &Kernels<float>::softmax_forward;
const auto kSoftmaxBackward = &Kernels<float>::softmax_backward;
const auto kLogSoftmax = &Kernels<float>::log_softmax_forward;
const auto kLogSoftmaxBackward = &Kernels<float>::log_softmax_backward;

// Rows, and columns of as many values.
std::vector<AxisShape> shapes() {
  std::vector<AxisShape> found{{0, 10},       {1, 2},     {64, 10},      {5, 1000},    {2, 4099},
                               {70000, 3},    {0, 10, 3}, {3, 10, 0},    {2, 5, 1000}, {1, 4099, 70},
                               {400, 3, 100}, {3, 1, 40}, {1, 1000, 129}};
  for (const int size : odd_sizes()) {
    found.push_back({4, size});
    found.push_back({2, 5, size});
    found.push_back({2, size, 6});
  }
  return found;
}

std::string words(const AxisShape& shape) {
  return std::to_string(shape.outer) + " x " + std::to_string(shape.size) + " x " + std::to_string(shape.inner);
}

// Logits of a trained net's size.
Buffer<float> random_logits(const AxisShape& shape) {
  auto x = Buffer<float>::random(shape.count(), 1);
  for (int64_t i = 0; i < x.size(); ++i) x[i] *= 10;
  return x;
}

TEST_CASE("softmax: values by hand", "[softmax]") {
  const Buffer<float> x({0, std::log(2.0f), std::log(5.0f), 1000, 1000, -1000});
  for (const Backend* row : rows_with(kSoftmax)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(6);
    row->f32.softmax_forward(context, {2, 3}, x.get(), y.get());
    check_values<float>(y, {0.125f, 0.25f, 0.625f, 0.5f, 0.5f, 0});
  }
  for (const Backend* row : rows_with(kLogSoftmax)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(6);
    row->f32.log_softmax_forward(context, {2, 3}, x.get(), y.get());
    check_values<float>(y, {-2.0794415f, -1.3862944f, -0.4700036f, -0.6931472f, -0.6931472f, -2000.6931f});
  }
  const Buffer<float> dy({1, 0, 2}), probability({0.125f, 0.25f, 0.625f}),
      logarithm({-2.0794415f, -1.3862944f, -0.4700036f});
  for (const Backend* row : rows_with(kSoftmaxBackward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dx(3);
    row->f32.softmax_backward(context, {1, 3}, probability.get(), dy.get(), dx.get());
    check_values<float>(dx, {-0.046875f, -0.34375f, 0.390625f});
  }
  for (const Backend* row : rows_with(kLogSoftmaxBackward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dx(3);
    row->f32.log_softmax_backward(context, {1, 3}, logarithm.get(), dy.get(), dx.get());
    check_values<float>(dx, {0.625f, -0.75f, 0.125f});
  }
}

TEST_CASE("softmax: every row against the reference", "[softmax]") {
  for (const AxisShape& shape : shapes()) {
    const Buffer<float> x = random_logits(shape), dy = Buffer<float>::random(shape.count(), 2);
    const Buffer<double> dy64 = convert<double>(dy);
    Context reference(reference_row());
    const Kernels<double>& kernels = reference_row().f64;
    Buffer<double> y64(shape.count()), dx64(shape.count());
    kernels.softmax_forward(reference, shape, convert<double>(x).get(), y64.get());
    for (const Backend* row : rows_with(kSoftmax)) {
      INFO(row->name << ", " << words(shape));
      Context context(*row);
      Buffer<float> y(shape.count());
      row->f32.softmax_forward(context, shape, x.get(), y.get());
      // exp(x - m) has the rounding of the difference, which is up to 20.
      Buffer<double> scale = y64;
      for (int64_t i = 0; i < scale.size(); ++i) scale[i] *= 4;
      check_close(y, y64, scale, shape.size);
    }
    const Buffer<float> y = convert<float>(y64);
    kernels.softmax_backward(reference, shape, convert<double>(y).get(), dy64.get(), dx64.get());
    Buffer<double> scale(shape.count());
    for (int64_t i = 0; i < scale.size(); ++i) scale[i] = y[i] * (std::abs(dy64[i]) + 1);
    for (const Backend* row : rows_with(kSoftmaxBackward)) {
      INFO(row->name << ", " << words(shape));
      Context context(*row);
      Buffer<float> dx(shape.count());
      row->f32.softmax_backward(context, shape, y.get(), dy.get(), dx.get());
      check_close(dx, dx64, scale, shape.size);
    }
  }
}

TEST_CASE("log_softmax: every row against the reference", "[softmax]") {
  for (const AxisShape& shape : shapes()) {
    const Buffer<float> x = random_logits(shape), dy = Buffer<float>::random(shape.count(), 2);
    Context reference(reference_row());
    const Kernels<double>& kernels = reference_row().f64;
    Buffer<double> y64(shape.count()), dx64(shape.count()), scale(shape.count());
    kernels.log_softmax_forward(reference, shape, convert<double>(x).get(), y64.get());
    for (const Backend* row : rows_with(kLogSoftmax)) {
      INFO(row->name << ", " << words(shape));
      Context context(*row);
      Buffer<float> y(shape.count());
      row->f32.log_softmax_forward(context, shape, x.get(), y.get());
      check_close(y, y64, 30.0, 1);
    }
    const Buffer<float> y = convert<float>(y64);
    const Buffer<double> rounded = convert<double>(y), dy64 = convert<double>(dy);
    kernels.log_softmax_backward(reference, shape, rounded.get(), dy64.get(), dx64.get());
    for (int64_t i = 0; i < scale.size(); ++i) {
      // |dy| + exp(y) * the sum of |dy|; exp has the rounding of y, which is up to 20 or so.
      double sum = 0;
      const int64_t length = shape.size * shape.inner, first = i / length * length + i % shape.inner;
      for (int j = 0; j < shape.size; ++j) sum += std::abs(dy64[first + j * shape.inner]);
      scale[i] = std::abs(dy64[i]) + 4 * std::exp(rounded[i]) * sum;
    }
    for (const Backend* row : rows_with(kLogSoftmaxBackward)) {
      INFO(row->name << ", " << words(shape));
      Context context(*row);
      Buffer<float> dx(shape.count());
      row->f32.log_softmax_backward(context, shape, y.get(), dy.get(), dx.get());
      check_close(dx, dx64, scale, shape.size);
    }
  }
}

TEST_CASE("softmax: columns by hand, and a NaN in one of them", "[softmax]") {
  // Two columns of three values, twice.
  const Buffer<float> x({0, 1000, std::log(2.0f), 1000, std::log(5.0f), -1000, 1, -3, 1, std::nanf(""), 1, -3});
  const Buffer<float> dy({1, 0, 0, 1, 2, 0, 1, 1, 1, 1, 1, 1});
  for (const Backend* row : rows_with(kSoftmax)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(12), dx(12);
    row->f32.softmax_forward(context, {2, 3, 2}, x.get(), y.get());
    for (int i = 0; i < 12; ++i) CHECK(std::isnan(y[i]) == (i == 7 || i == 9 || i == 11));
    row->f32.softmax_backward(context, {1, 3, 2}, y.get(), dy.get(), dx.get());
    Buffer<float> first(6), first_dx(6);
    std::copy_n(y.get(), 6, first.get());
    std::copy_n(dx.get(), 6, first_dx.get());
    check_values<float>(first, {0.125f, 0.5f, 0.25f, 0.5f, 0.625f, 0});
    check_values<float>(first_dx, {-0.046875f, -0.25f, -0.34375f, 0.25f, 0.390625f, 0});
    row->f32.log_softmax_forward(context, {2, 3, 2}, x.get(), y.get());
    for (int i = 0; i < 12; ++i) CHECK(std::isnan(y[i]) == (i == 7 || i == 9 || i == 11));
    CHECK(y[5] == Approx(-2000.6931f));
  }
}

TEST_CASE("softmax: a NaN shows in its row and in no other", "[softmax]") {
  for (const int cols : {3, 8, 21}) {
    Buffer<float> x = Buffer<float>::random(2 * cols, 1);
    x[cols - 1] = std::nanf("");
    const auto check = [&](const Backend& row, const Buffer<float>& y) {
      INFO(row.name << ", " << cols << " columns");
      for (int i = 0; i < 2 * cols; ++i) CHECK(std::isnan(y[i]) == (i < cols));
    };
    for (const Backend* row : rows_with(kSoftmax)) {
      Context context(*row);
      Buffer<float> y(2 * cols);
      row->f32.softmax_forward(context, {2, cols}, x.get(), y.get());
      check(*row, y);
    }
    for (const Backend* row : rows_with(kLogSoftmax)) {
      Context context(*row);
      Buffer<float> y(2 * cols);
      row->f32.log_softmax_forward(context, {2, cols}, x.get(), y.get());
      check(*row, y);
    }
  }
}

TEST_CASE("softmax: gradients of the reference by central differences", "[softmax]") {
  Context context(reference_row());
  const Kernels<double>& kernels = reference_row().f64;
  const AxisShape shape{3, 5};
  const auto x = Buffer<double>::random(15, 1), dy = Buffer<double>::random(15, 2);
  Buffer<double> y(15), dx(15);
  kernels.softmax_forward(context, shape, x.get(), y.get());
  kernels.softmax_backward(context, shape, y.get(), dy.get(), dx.get());
  check_gradient(dx, central_differences(x, dy, [&](const double* moved, double* result) {
                   kernels.softmax_forward(context, shape, moved, result);
                 }));
  kernels.log_softmax_forward(context, shape, x.get(), y.get());
  kernels.log_softmax_backward(context, shape, y.get(), dy.get(), dx.get());
  check_gradient(dx, central_differences(x, dy, [&](const double* moved, double* result) {
                   kernels.log_softmax_forward(context, shape, moved, result);
                 }));
}

}  // namespace
}  // namespace dnn::test
