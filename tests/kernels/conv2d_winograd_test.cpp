#include <kernels/cpu/conv2d_winograd.h>

#include "conv2d_shapes.h"

// Shapes that the CPU rows give to conv2d_winograd (3x3, stride 1, 32 channels and 96 tiles or more); the other rows
// run them too. Its error is up to twice that of the direct sum: relative to the root mean square of the result at most
// 1e-5 was measured here for 32 to 72 channels, and the usual points of the transform would give 4e-5. Allowed: 2e-5.
namespace dnn::test {
namespace {

constexpr double kAllowed = 2e-5;

std::vector<NamedConv2d> winograd_shapes() {
  std::vector<NamedConv2d> shapes{
      {"whole tiles", square_conv2d(1, 40, 32, 32, 3, 1, 1)},
      {"overhanging tiles", square_conv2d(6, 13, 33, 40, 3, 1, 1)},
      {"no padding", square_conv2d(2, 31, 40, 33, 3)},
      {"7x7 pictures", square_conv2d(24, 7, 72, 32, 3, 1, 1)},
      {"groups", square_conv2d(1, 38, 64, 64, 3, 1, 1, 2)},
      {"padding beyond the window", square_conv2d(1, 34, 32, 32, 3, 1, 4)},
  };
  NamedConv2d pitches{"pitches, four paddings", square_conv2d(2, 37, 32, 36, 3)};
  pitches.shape.w = 29;
  pitches.shape.pad_top = 2, pitches.shape.pad_left = 1, pitches.shape.pad_right = 3;
  pitches.shape.x_stride = 37, pitches.shape.y_stride = 47;
  shapes.push_back(pitches);
  return shapes;
}

// The largest error over the root mean square, over the first `channels` of each `pitch` elements.
void check_error(const Buffer<float>& y, const Buffer<double>& y64, int channels, int pitch) {
  y.check_guards();
  double largest = 0, squares = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < y.size(); ++i) {
    if (i % pitch >= channels) continue;
    const double error = std::abs(y[i] - y64[i]);
    REQUIRE(error == error);
    largest = std::max(largest, error);
    squares += y64[i] * y64[i];
    ++count;
  }
  CHECK(largest <= kAllowed * std::sqrt(squares / static_cast<double>(count)));
}

TEST_CASE("conv2d: Winograd's forward pass and input gradient", "[conv2d]") {
  for (const NamedConv2d& named : winograd_shapes()) {
    const Conv2dShape& shape = named.shape;
    const auto x = Buffer<float>::random(shape.x_pixels() * shape.x_pitch(), 1);
    const auto w = Buffer<float>::random(shape.w_count(), 2), bias = Buffer<float>::random(shape.k, 4);
    const auto dy = Buffer<float>::random(shape.y_pixels() * shape.y_pitch(), 3);
    const Buffer<double> x64 = convert<double>(x), w64 = convert<double>(w), dy64 = convert<double>(dy);
    const Buffer<double> bias64 = convert<double>(bias);
    Buffer<double> y64(dy.size()), dx64(x.size());
    Context reference(reference_row());
    reference_row().f64.conv2d_forward(reference, shape, x64.get(), w64.get(),
                                       {bias64.get(), dy64.get(), Activation::relu}, y64.get());
    reference_row().f64.conv2d_backward_input(reference, shape, dy64.get(), w64.get(), dx64.get());
    for (const Backend* row : rows()) {
      INFO(row->name << ", " << named.name);
      Context context(*row);
      Buffer<float> y(dy.size()), dx(x.size());
      row->f32.conv2d_forward(context, shape, x.get(), w.get(), {bias.get(), dy.get(), Activation::relu}, y.get());
      check_error(y, y64, shape.k, shape.y_pitch());
      const PackedWeight packed(context, shape, w);
      y = Buffer<float>(dy.size());
      row->f32.conv2d_forward_packed(context, shape, packed.packing, x.get(), packed.values.get(),
                                     {bias.get(), dy.get(), Activation::relu}, y.get());
      check_error(y, y64, shape.k, shape.y_pitch());
      row->f32.conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
      check_error(dx, dx64, shape.c, shape.x_pitch());
    }
  }
}

TEST_CASE("conv2d: DNN_CONV", "[conv2d]") {
  CHECK(cpu::parse_winograd_choice(nullptr));
  CHECK(cpu::parse_winograd_choice(""));
  CHECK(cpu::parse_winograd_choice("auto"));
  CHECK_FALSE(cpu::parse_winograd_choice("direct"));
  CHECK_THROWS_WITH(cpu::parse_winograd_choice("fft"), "[conv2d] DNN_CONV is auto or direct; got 'fft'");
}

TEST_CASE("conv2d: Winograd's bits don't depend on the threads", "[conv2d]") {
  const Conv2dShape shape = square_conv2d(6, 27, 48, 40, 3, 1, 1);
  const auto x = Buffer<float>::random(shape.x_pixels() * shape.c, 1), w = Buffer<float>::random(shape.w_count(), 2);
  for (const Backend* row : rows()) {
    INFO(row->name);
    Context one(*row), three(*row);
    one.threads = 1;
    three.threads = 3;
    Buffer<float> y1(shape.y_pixels() * shape.k), y3 = y1;
    row->f32.conv2d_forward(one, shape, x.get(), w.get(), {}, y1.get());
    row->f32.conv2d_forward(three, shape, x.get(), w.get(), {}, y3.get());
    CHECK(y1.values() == y3.values());
  }
}

}  // namespace
}  // namespace dnn::test
