#include "conv2d_shapes.h"
#include "gradients.h"

namespace dnn::test {
namespace {

const auto kForward = &Kernels<float>::shared_conv2d_forward;
const auto kBackwardInput = &Kernels<float>::shared_conv2d_backward_input;
const auto kBackwardWeight = &Kernels<float>::shared_conv2d_backward_weight;

std::vector<NamedConv2d> shapes() {
  std::vector<NamedConv2d> found;
  for (const int c : odd_sizes()) {
    found.push_back({std::to_string(c) + " channels, 2x2 stride 2", square_conv2d(2, 8, c, c, 2, 2, 0, c)});
    found.push_back({std::to_string(c) + " channels, 3x3", square_conv2d(1, 7, c, c, 3, 1, 1, c)});
  }
  found.push_back({"LeNet-5 subsample", square_conv2d(3, 28, 6, 6, 2, 2, 0, 6)});
  found.push_back({"no picture", square_conv2d(0, 8, 6, 6, 2, 2, 0, 6)});
  Conv2dShape shape = square_conv2d(2, 9, 10, 10, 3, 2, 0, 10);
  shape.w = 12;
  shape.s = 2;
  shape.dilation_h = 2;
  shape.pad_left = 1;
  shape.pad_bottom = 2;
  found.push_back({"everything unequal", shape});
  shape.x_stride = 13;
  shape.y_stride = 24;
  found.push_back({"pitches", shape});
  // Windows that don't overlap, which has a route of its own.
  found.push_back({"4x4 stride 4", square_conv2d(2, 24, 6, 6, 4, 4, 0, 6)});
  found.push_back({"windows apart, padded", square_conv2d(2, 9, 7, 7, 2, 3, 2, 7)});
  found.push_back({"windows apart, larger than the padded picture's rest", square_conv2d(2, 11, 5, 5, 3, 4, 1, 5)});
  shape = square_conv2d(2, 13, 3, 3, 2, 4, 2, 3);
  shape.w = 18;
  shape.s = 3;
  shape.stride_w = 5;
  shape.dilation_h = 3;
  shape.dilation_w = 2;
  found.push_back({"windows apart, dilated", shape});
  shape.y_stride = 4;
  found.push_back({"windows apart, pitch of y", shape});
  found.push_back({"one channel", square_conv2d(3, 8, 1, 1, 2, 2)});
  return found;
}

Buffer<float> random_x(const Conv2dShape& s) { return Buffer<float>::random_rows(s.x_pixels(), s.c, s.x_pitch(), 1); }
Buffer<float> random_w(const Conv2dShape& s) { return Buffer<float>::random(int64_t{s.r} * s.s, 2); }
Buffer<float> random_y(const Conv2dShape& s) { return Buffer<float>::random_rows(s.y_pixels(), s.k, s.y_pitch(), 3); }

TEST_CASE("shared_conv2d: values by hand", "[shared_conv2d]") {
  // Two channels of a 2x2 picture, window 2x2: one sum a channel.
  const Conv2dShape shape = square_conv2d(1, 2, 2, 2, 2, 2, 0, 2);
  const Buffer<float> x({1, 10, 2, 20, 3, 30, 4, 40}), w({1, 2, 3, -1}), bias({0.5f}), dy({1, 2});
  for (const Backend* row : rows_with(kForward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(2);
    row->f32.shared_conv2d_forward(context, shape, x.get(), w.get(), bias.get(), Activation::none, y.get());
    check_values<float>(y, {10.5f, 100.5f});
  }
  for (const Backend* row : rows_with(kBackwardInput)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dx(8);
    row->f32.shared_conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
    check_values<float>(dx, {1, 2, 2, 4, 3, 6, -1, -2});
  }
  for (const Backend* row : rows_with(kBackwardWeight)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dw(4), dbias(1);
    row->f32.shared_conv2d_backward_weight(context, shape, x.get(), dy.get(), dw.get(), dbias.get());
    check_values<float>(dw, {21, 42, 63, 84});
    check_values<float>(dbias, {3});
  }
}

TEST_CASE("shared_conv2d forward: every row against the reference", "[shared_conv2d]") {
  for (const NamedConv2d& named : shapes()) {
    for (const Activation activation : {Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh}) {
      for (const bool with_bias : {false, true}) {
        const Conv2dShape& shape = named.shape;
        const Buffer<float> x = random_x(shape), w = random_w(shape), bias({-0.375f});
        const Buffer<double> x64 = convert<double>(x), w64 = convert<double>(w), bias64({-0.375}), bias_size({0.375});
        Context reference(reference_row());
        Buffer<double> y64(shape.y_pixels() * shape.y_pitch()), scale = y64;
        reference_row().f64.shared_conv2d_forward(reference, shape, x64.get(), w64.get(),
                                                  with_bias ? bias64.get() : nullptr, activation, y64.get());
        reference_row().f64.shared_conv2d_forward(reference, shape, absolute(x64).get(), absolute(w64).get(),
                                                  bias_size.get(), Activation::none, scale.get());
        for (const Backend* row : rows_with(kForward)) {
          INFO(row->name << ", " << named.name << ", bias " << with_bias << ", activation "
                         << static_cast<int>(activation.op));
          Context context(*row);
          Buffer<float> y(y64.size());
          row->f32.shared_conv2d_forward(context, shape, x.get(), w.get(), with_bias ? bias.get() : nullptr, activation,
                                         y.get());
          check_close(y, y64, scale, shape.r * shape.s + 1);
        }
      }
    }
  }
}

TEST_CASE("shared_conv2d backward: every row against the reference", "[shared_conv2d]") {
  for (const NamedConv2d& named : shapes()) {
    const Conv2dShape& shape = named.shape;
    const Buffer<float> x = random_x(shape), w = random_w(shape), dy = random_y(shape);
    const Buffer<double> x64 = convert<double>(x), w64 = convert<double>(w), dy64 = convert<double>(dy);
    Context reference(reference_row());
    const Kernels<double>& kernels = reference_row().f64;
    Buffer<double> dx64(x.size()), dx_scale(x.size()), dw64(w.size()), dw_scale(w.size()), dbias64(1), dbias_scale(1);
    kernels.shared_conv2d_backward_input(reference, shape, dy64.get(), w64.get(), dx64.get());
    kernels.shared_conv2d_backward_input(reference, shape, absolute(dy64).get(), absolute(w64).get(), dx_scale.get());
    kernels.shared_conv2d_backward_weight(reference, shape, x64.get(), dy64.get(), dw64.get(), dbias64.get());
    kernels.shared_conv2d_backward_weight(reference, shape, absolute(x64).get(), absolute(dy64).get(), dw_scale.get(),
                                          dbias_scale.get());
    for (const Backend* row : rows_with(kBackwardInput)) {
      INFO(row->name << ", " << named.name);
      Context context(*row);
      Buffer<float> dx(x.size());
      row->f32.shared_conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
      check_close(dx, dx64, dx_scale, shape.r * shape.s);
    }
    for (const Backend* row : rows_with(kBackwardWeight)) {
      INFO(row->name << ", " << named.name);
      Context context(*row);
      Buffer<float> dw(w.size()), dw_alone(w.size()), dbias(1);
      row->f32.shared_conv2d_backward_weight(context, shape, x.get(), dy.get(), dw.get(), dbias.get());
      check_close(dw, dw64, dw_scale, static_cast<double>(shape.y_pixels() * shape.c));
      check_close(dbias, dbias64, dbias_scale, static_cast<double>(shape.y_pixels() * shape.c));
      row->f32.shared_conv2d_backward_weight(context, shape, x.get(), dy.get(), dw_alone.get(), nullptr);
      REQUIRE((dw.values() == dw_alone.values()));
    }
  }
}

TEST_CASE("shared_conv2d: one and several threads give the same bits", "[shared_conv2d]") {
  for (const Conv2dShape& shape : {square_conv2d(64, 24, 6, 6, 4, 4, 0, 6), square_conv2d(40, 24, 6, 6, 3, 1, 1, 6)}) {
    const Buffer<float> x = random_x(shape), w = random_w(shape), bias({0.25f}), dy = random_y(shape);
    for (const Backend* row : rows_with(kForward)) {
      std::vector<std::vector<float>> one;
      for (const int threads : {1, 2, 3}) {
        INFO(row->name << ", " << threads << " threads");
        Context context(*row);
        context.threads = threads;
        Buffer<float> y(dy.size()), dx(x.size()), dw(w.size()), dbias(1);
        row->f32.shared_conv2d_forward(context, shape, x.get(), w.get(), bias.get(), Activation::sigmoid, y.get());
        row->f32.shared_conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
        row->f32.shared_conv2d_backward_weight(context, shape, x.get(), dy.get(), dw.get(), dbias.get());
        const std::vector<std::vector<float>> all{y.values(), dx.values(), dw.values(), dbias.values()};
        if (threads == 1) one = all;
        REQUIRE((all == one));
      }
    }
  }
}

TEST_CASE("shared_conv2d: gradients of the reference by central differences", "[shared_conv2d]") {
  Context context(reference_row());
  const Kernels<double>& kernels = reference_row().f64;
  for (const Conv2dShape& shape : {square_conv2d(2, 4, 3, 3, 2, 2, 0, 3), square_conv2d(1, 5, 2, 2, 3, 1, 1, 2),
                                   square_conv2d(1, 5, 1, 1, 3, 2, 3)}) {
    const Buffer<double> x = convert<double>(random_x(shape)), w = convert<double>(random_w(shape));
    const Buffer<double> dy = convert<double>(random_y(shape)), bias({0.25});
    Buffer<double> dx(x.size()), dw(w.size()), dbias(1);
    kernels.shared_conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
    kernels.shared_conv2d_backward_weight(context, shape, x.get(), dy.get(), dw.get(), dbias.get());
    const auto forward = [&](const double* from_x, const double* from_w, const double* from_bias, double* y) {
      kernels.shared_conv2d_forward(context, shape, from_x, from_w, from_bias, Activation::none, y);
    };
    check_gradient(dx, central_differences(
                           x, dy, [&](const double* moved, double* y) { forward(moved, w.get(), bias.get(), y); }));
    check_gradient(dw, central_differences(
                           w, dy, [&](const double* moved, double* y) { forward(x.get(), moved, bias.get(), y); }));
    check_gradient(dbias, central_differences(
                              bias, dy, [&](const double* moved, double* y) { forward(x.get(), w.get(), moved, y); }));
  }
}

}  // namespace
}  // namespace dnn::test
