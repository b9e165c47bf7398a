#include <kernels/cpu/conv2d_methods.h>
#include <kernels/cpu/conv2d_winograd.h>

#include <cstdlib>

#include "conv2d_shapes.h"

// A tile's transform mixes its values, so that an element's error is of the size of the largest sum of magnitudes in
// its picture and channel, whatever its own is: at most 3.7 units of rounding were measured here, where the usual
// points of the transform would give four times as many.
namespace dnn::test {
namespace {

constexpr double kAllowed = 9 * std::numeric_limits<float>::epsilon();

std::vector<NamedConv2d> winograd_shapes() {
  std::vector<NamedConv2d> shapes{
      {"whole tiles", square_conv2d(1, 48, 36, 40, 3, 1, 1)},
      {"overhanging tiles", square_conv2d(9, 13, 41, 40, 3, 1, 1)},
      {"no padding", square_conv2d(3, 31, 40, 37, 3)},
      {"7x7 pictures", square_conv2d(40, 7, 72, 36, 3, 1, 1)},
      {"groups", square_conv2d(1, 46, 80, 88, 3, 1, 1, 2)},
      {"padding beyond the window", square_conv2d(1, 46, 36, 36, 3, 1, 4)},
  };
  NamedConv2d pitches{"pitches, four paddings", square_conv2d(2, 37, 36, 44, 3)};
  pitches.shape.w = 29;
  pitches.shape.pad_top = 2, pitches.shape.pad_left = 1, pitches.shape.pad_right = 3;
  pitches.shape.x_stride = 41, pitches.shape.y_stride = 55;
  shapes.push_back(pitches);
  return shapes;
}

// The pictures of one batch in three sizes: the error of a small one must not be that of its neighbors.
Buffer<float> pictures(int n, int64_t pixels, int pitch, uint32_t seed) {
  auto values = Buffer<float>::random(n * pixels * pitch, seed);
  constexpr float kSizes[] = {1, 1e-3f, 1e3f};
  for (int64_t i = 0; i < values.size(); ++i) values[i] *= kSizes[i / (pixels * pitch) % 3];
  return values;
}

// `sums`: each element's sum of magnitudes. Over the first `channels` of each `pitch` elements.
void check_error(const Buffer<float>& y, const Buffer<double>& y64, const Buffer<double>& sums, int64_t pixels,
                 int channels, int pitch) {
  y.check_guards();
  for (int64_t first = 0; first < y.size(); first += pixels * pitch) {
    for (int c = 0; c < channels; ++c) {
      double largest = 0;
      for (int64_t i = 0; i < pixels; ++i) largest = std::max(largest, sums[first + i * pitch + c]);
      for (int64_t i = 0; i < pixels; ++i) {
        const int64_t at = first + i * pitch + c;
        if (!(std::abs(y[at] - y64[at]) <= kAllowed * largest)) {
          FAIL("element " << at << ": " << y[at] << " instead of " << y64[at] << ", allowed " << kAllowed * largest);
        }
      }
    }
  }
  SUCCEED();
}

TEST_CASE("conv2d: Winograd's forward pass and input gradient", "[conv2d]") {
  const std::string winograd = std::getenv("DNN_CONV") ? "" : "conv2d_winograd";
  for (const NamedConv2d& named : winograd_shapes()) {
    const Conv2dShape& shape = named.shape;
    INFO(named.name);
    if (!winograd.empty()) {
      CHECK(cpu::conv2d_forward_route(shape, false) == winograd);
      CHECK(cpu::conv2d_forward_route(shape, true) == winograd);
      CHECK(cpu::conv2d_backward_input_route(shape) == winograd);
    }
    const int64_t x_pixels = int64_t{shape.h} * shape.w, y_pixels = int64_t{shape.oh()} * shape.ow();
    const auto x = pictures(shape.n, x_pixels, shape.x_pitch(), 1),
               dy = pictures(shape.n, y_pixels, shape.y_pitch(), 3);
    const auto w = Buffer<float>::random(shape.w_count(), 2);
    const Buffer<double> x64 = convert<double>(x), w64 = convert<double>(w), dy64 = convert<double>(dy);
    Buffer<double> y64(dy.size()), dx64(x.size()), y_sums(dy.size()), dx_sums(x.size());
    Context reference(reference_row());
    const Kernels<double>& exact = reference_row().f64;
    exact.conv2d_forward(reference, shape, x64.get(), w64.get(), {nullptr, dy64.get(), Activation::relu}, y64.get());
    exact.conv2d_backward_input(reference, shape, dy64.get(), w64.get(), dx64.get());
    const auto x_size = absolute(x64), w_size = absolute(w64), dy_size = absolute(dy64);
    exact.conv2d_forward(reference, shape, x_size.get(), w_size.get(), {nullptr, dy_size.get()}, y_sums.get());
    exact.conv2d_backward_input(reference, shape, dy_size.get(), w_size.get(), dx_sums.get());
    for (const Backend* row : rows_with(&Kernels<float>::conv2d_forward)) {
      INFO(row->name);
      Context context(*row);
      Buffer<float> y(dy.size()), dx(x.size());
      row->f32.conv2d_forward(context, shape, x.get(), w.get(), {nullptr, dy.get(), Activation::relu}, y.get());
      check_error(y, y64, y_sums, y_pixels, shape.k, shape.y_pitch());
      const PackedWeight packed(context, shape, w);
      y = Buffer<float>(dy.size());
      row->f32.conv2d_forward_packed(context, shape, packed.packing, x.get(), packed.values.get(),
                                     {nullptr, dy.get(), Activation::relu}, y.get());
      check_error(y, y64, y_sums, y_pixels, shape.k, shape.y_pitch());
      row->f32.conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
      check_error(dx, dx64, dx_sums, x_pixels, shape.c, shape.x_pitch());
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
  if (!std::getenv("DNN_CONV")) CHECK(std::string(cpu::conv2d_forward_route(shape, false)) == "conv2d_winograd");
  const auto x = Buffer<float>::random(shape.x_pixels() * shape.c, 1), w = Buffer<float>::random(shape.w_count(), 2);
  for (const Backend* row : rows_with(&Kernels<float>::conv2d_forward)) {
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
