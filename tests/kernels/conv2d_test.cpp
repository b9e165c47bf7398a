#include <kernels/cpu/conv2d_methods.h>

#include "conv2d_shapes.h"
#include "fused.h"
#include "gradients.h"

namespace dnn::test {
namespace {

const auto kForward = &Kernels<float>::conv2d_forward;
const auto kBackwardInput = &Kernels<float>::conv2d_backward_input;
const auto kBackwardWeight = &Kernels<float>::conv2d_backward_weight;

Buffer<float> random_x(const Conv2dShape& s) { return Buffer<float>::random_rows(s.x_pixels(), s.c, s.x_pitch(), 1); }
Buffer<float> random_w(const Conv2dShape& s) { return Buffer<float>::random(s.w_count(), 2); }
Buffer<float> random_y(const Conv2dShape& s) { return Buffer<float>::random_rows(s.y_pixels(), s.k, s.y_pitch(), 3); }

void compare_forward(const NamedConv2d& named, const Parts& parts, const Activation& activation) {
  const Conv2dShape& shape = named.shape;
  const Buffer<float> x = random_x(shape), w = random_w(shape), residual = random_y(shape);
  const auto bias = Buffer<float>::random(shape.k, 4), scale = Buffer<float>::random(shape.k, 5);
  const auto epilogue = epilogue_of(parts, bias, residual, scale, activation);
  Context reference(reference_row());
  const auto& kernels = reference_row().f64;
  Buffer<double> y64(shape.y_pixels() * shape.y_pitch()), sums = y64;
  const Buffer<double> x64 = convert<double>(x), w64 = convert<double>(w);
  const Buffer<double> bias64 = convert<double>(bias), residual64 = convert<double>(residual);
  const Buffer<double> scale64 = convert<double>(scale);
  kernels.conv2d_forward(reference, shape, x64.get(), w64.get(),
                         epilogue_of(parts, bias64, residual64, scale64, activation), y64.get());
  const Buffer<double> bias_size = absolute(bias64), residual_size = absolute(residual64);
  const Buffer<double> scale_size = absolute(scale64);
  kernels.conv2d_forward(reference, shape, absolute(x64).get(), absolute(w64).get(),
                         epilogue_of(parts, bias_size, residual_size, scale_size, Activation::none), sums.get());
  const Buffer<double> bounds = magnitudes(activation, sums, y64);
  for (const Backend* row : rows_with(kForward)) {
    INFO(row->name << ", " << named.name << text(parts) << ", " << text(activation));
    Context context(*row);
    Buffer<float> y(y64.size());
    const double length = double{1} * shape.r * shape.s * shape.c / shape.groups + 2;
    row->f32.conv2d_forward(context, shape, x.get(), w.get(), epilogue, y.get());
    check_close(y, y64, bounds, length);
    Conv2dShape many = shape;
    many.n = 100;
    for (const Conv2dShape& packed_for : {shape, many}) {
      const PackedWeight packed(context, packed_for, w);
      y = Buffer<float>(y64.size());
      row->f32.conv2d_forward_packed(context, shape, packed.packing, x.get(), packed.values.get(), epilogue, y.get());
      check_close(y, y64, bounds, length);
    }
  }
}

TEST_CASE("conv2d: values by hand", "[conv2d]") {
  const Conv2dShape shape = square_conv2d(1, 3, 1, 1, 2);
  const Buffer<float> x({1, 2, 3, 4, 5, 6, 7, 8, 9}), w({1, 2, 3, 4}), bias({0.5f});
  for (const Backend* row : rows_with(kForward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(4);
    row->f32.conv2d_forward(context, shape, x.get(), w.get(), {bias.get(), nullptr, Activation::none}, y.get());
    check_values<float>(y, {37.5f, 47.5f, 67.5f, 77.5f});
  }
  const Buffer<float> dy({1, 1, 1, 1});
  for (const Backend* row : rows_with(kBackwardInput)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dx(9);
    row->f32.conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
    check_values<float>(dx, {1, 3, 2, 4, 10, 6, 3, 7, 4});
  }
  for (const Backend* row : rows_with(kBackwardWeight)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dw(4);
    row->f32.conv2d_backward_weight(context, shape, x.get(), dy.get(), dw.get());
    check_values<float>(dw, {12, 16, 24, 28});
  }
}

TEST_CASE("conv2d: packed weights, values by hand", "[conv2d]") {
  const Conv2dShape shape = square_conv2d(1, 3, 1, 1, 2);
  const Buffer<float> x({1, 2, 3, 4, 5, 6, 7, 8, 9}), w({1, 2, 3, 4}), bias({0.5f});
  for (const Backend* row : rows_with(&Kernels<float>::conv2d_forward_packed)) {
    INFO(row->name);
    Context context(*row);
    const PackedWeight packed(context, shape, w);
    Buffer<float> y(4);
    row->f32.conv2d_forward_packed(context, shape, packed.packing, x.get(), packed.values.get(),
                                   {bias.get(), nullptr, Activation::none}, y.get());
    check_values<float>(y, {37.5f, 47.5f, 67.5f, 77.5f});
  }
}

TEST_CASE("conv2d: the weight gradient of depthwise convolutions of ones counts the cells in the picture", "[conv2d]") {
  const std::vector<float> even{4, 6, 6, 6, 9, 9, 6, 9, 9}, odd{6, 9, 6, 8, 12, 8, 6, 9, 6};
  for (const Backend* row : rows_with(kBackwardWeight)) {
    for (const int c : odd_sizes()) {
      for (const bool six : {true, false}) {
        INFO(row->name << ", " << c << " channels, " << (six ? "6x6" : "7x5"));
        Conv2dShape shape = square_conv2d(1, 6, c, c, 3, 2, 1, c);
        if (!six) {
          shape.h = 7;
          shape.w = 5;
        }
        const Buffer<float> x(shape.x_pixels() * c, 1), dy(shape.y_pixels() * c, 1);
        Buffer<float> dw(int64_t{9} * c);
        Context context(*row);
        row->f32.conv2d_backward_weight(context, shape, x.get(), dy.get(), dw.get());
        std::vector<float> expected;
        for (int channel = 0; channel < c; ++channel) {
          expected.insert(expected.end(), six ? even.begin() : odd.begin(), six ? even.end() : odd.end());
        }
        check_values<float>(dw, expected);
      }
    }
  }
}

TEST_CASE("conv2d forward: every row against the reference", "[conv2d]") {
  for (const NamedConv2d& named : conv2d_shapes()) {
    compare_forward(named, {true, true}, Activation::relu);
    if (named.shape.flops() < 20000000) compare_forward(named, {}, Activation::none);
    if (named.shape.flops() < 2000000) compare_forward(named, {true, true, true}, Activation::leaky_relu(0.1));
  }
}

TEST_CASE("conv2d forward: every activation, with and without scale, bias and residual", "[conv2d]") {
  Conv2dShape pitched = square_conv2d(1, 6, 9, 17, 3, 1, 1);
  pitched.x_stride = 11;
  pitched.y_stride = 40;
  struct Case {
    NamedConv2d named;
    const char* method;
    const char* structure;  // of the direct convolution
  };
  const std::vector<Case> cases{{{"3x3", square_conv2d(2, 21, 5, 24, 3, 1, 1)}, "conv2d_direct", "rows"},
                                {{"1x1", square_conv2d(2, 6, 20, 33, 1)}, "conv2d_direct", "pixels"},
                                {{"narrow", square_conv2d(3, 5, 16, 24, 3, 1, 1)}, "conv2d_direct", "pointers"},
                                {{"few filters", square_conv2d(1, 9, 3, 3, 5, 2, 2)}, "conv2d_direct", "rows"},
                                {{"depthwise", square_conv2d(1, 9, 25, 25, 3, 1, 1, 25)}, "conv2d_depthwise", nullptr},
                                {{"groups", square_conv2d(1, 7, 6, 18, 3, 1, 1, 3)}, "conv2d_direct", nullptr},
                                {{"Winograd", square_conv2d(2, 31, 36, 40, 3, 1, 1)}, "conv2d_winograd", nullptr},
                                {{"pitches", pitched}, "conv2d_direct", nullptr}};
  for (const Case& c : cases) {
    CHECK(std::string(cpu::conv2d_forward_route(c.named.shape, false)) == c.method);
    for (const Backend* row : rows_with(&Kernels<float>::conv2d_forward)) {
      if (!c.structure || row == &reference_row()) continue;
      INFO(row->name << ", " << c.named.name);
      Context context(*row);
      // One lane has tiles of its own widths.
      if (row->name != "cpu_baseline") {
        CHECK(std::string(cpu::conv2d_direct_structure(context, c.named.shape)) == c.structure);
      }
    }
    for (const Activation& activation : every_activation()) compare_forward(c.named, {true, true, true}, activation);
    for (const Parts& parts : every_parts()) {
      compare_forward(c.named, parts, Activation::none);
      compare_forward(c.named, parts, Activation::silu);
      compare_forward(c.named, parts, Activation::tanh);
    }
  }
}

TEST_CASE("conv2d backward input: every row against the reference", "[conv2d]") {
  for (const NamedConv2d& named : conv2d_shapes()) {
    const Conv2dShape& shape = named.shape;
    const Buffer<float> dy = random_y(shape), w = random_w(shape);
    const Buffer<double> dy64 = convert<double>(dy), w64 = convert<double>(w);
    Context reference(reference_row());
    Buffer<double> dx64(shape.x_pixels() * shape.x_pitch()), scale = dx64;
    reference_row().f64.conv2d_backward_input(reference, shape, dy64.get(), w64.get(), dx64.get());
    reference_row().f64.conv2d_backward_input(reference, shape, absolute(dy64).get(), absolute(w64).get(), scale.get());
    for (const Backend* row : rows_with(kBackwardInput)) {
      INFO(row->name << ", " << named.name);
      Context context(*row);
      Buffer<float> dx(dx64.size());
      row->f32.conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
      check_close(dx, dx64, scale, double{1} * shape.r * shape.s * shape.k / shape.groups);
    }
  }
}

TEST_CASE("conv2d backward weight: every row against the reference", "[conv2d]") {
  for (const NamedConv2d& named : conv2d_shapes()) {
    const Conv2dShape& shape = named.shape;
    const Buffer<float> x = random_x(shape), dy = random_y(shape);
    const Buffer<double> x64 = convert<double>(x), dy64 = convert<double>(dy);
    Context reference(reference_row());
    Buffer<double> dw64(shape.w_count()), scale = dw64;
    reference_row().f64.conv2d_backward_weight(reference, shape, x64.get(), dy64.get(), dw64.get());
    reference_row().f64.conv2d_backward_weight(reference, shape, absolute(x64).get(), absolute(dy64).get(),
                                               scale.get());
    for (const Backend* row : rows_with(kBackwardWeight)) {
      INFO(row->name << ", " << named.name);
      Context context(*row);
      Buffer<float> dw(dw64.size());
      row->f32.conv2d_backward_weight(context, shape, x.get(), dy.get(), dw.get());
      check_close(dw, dw64, scale, static_cast<double>(shape.y_pixels()));
    }
  }
}

TEST_CASE("conv2d: one and several threads give the same bits", "[conv2d]") {
  const std::vector<NamedConv2d> shapes{
      {"3x3", square_conv2d(3, 15, 24, 32, 3, 1, 1)},          {"64 channels", square_conv2d(3, 14, 64, 64, 3, 1, 1)},
      {"first layer", square_conv2d(3, 32, 3, 16, 5, 2, 2)},   {"1x1", square_conv2d(3, 14, 40, 64, 1)},
      {"groups", square_conv2d(3, 13, 32, 48, 5, 1, 2, 2)},    {"partial sums of dw", square_conv2d(24, 12, 20, 50, 5)},
      {"depthwise", square_conv2d(3, 15, 33, 33, 3, 1, 1, 33)}};
  for (const NamedConv2d& named : shapes) {
    const Conv2dShape& shape = named.shape;
    const Buffer<float> x = random_x(shape), w = random_w(shape), dy = random_y(shape);
    for (const Backend* row : rows_with(&Kernels<float>::conv2d_forward)) {
      std::vector<float> of_one_thread;
      for (const int threads : {1, 2, 3, 7}) {
        Context context(*row);
        context.threads = threads;
        Buffer<float> y(dy.size()), dx(x.size()), dw(w.size());
        if (row->f32.conv2d_forward.run) row->f32.conv2d_forward(context, shape, x.get(), w.get(), {}, y.get());
        if (row->f32.conv2d_backward_input.run) {
          row->f32.conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
        }
        if (row->f32.conv2d_backward_weight.run) {
          row->f32.conv2d_backward_weight(context, shape, x.get(), dy.get(), dw.get());
        }
        std::vector<float> all = y.values();
        for (const Buffer<float>* more : {&dx, &dw}) {
          const std::vector<float> values = more->values();
          all.insert(all.end(), values.begin(), values.end());
        }
        if (threads == 1) of_one_thread = all;
        INFO(row->name << ", " << named.name << ", " << threads << " threads");
        REQUIRE((all == of_one_thread));
      }
    }
  }
}

TEST_CASE("conv2d: gradients of the reference by central differences", "[conv2d]") {
  Context context(reference_row());
  const Kernels<double>& kernels = reference_row().f64;
  for (const NamedConv2d& named : small_conv2d_shapes()) {
    INFO(named.name);
    const Conv2dShape& shape = named.shape;
    const Buffer<double> x = convert<double>(random_x(shape)), w = convert<double>(random_w(shape));
    const Buffer<double> dy = convert<double>(random_y(shape));
    Buffer<double> dx(x.size()), dw(w.size());
    kernels.conv2d_backward_input(context, shape, dy.get(), w.get(), dx.get());
    check_gradient(dx, central_differences(x, dy, [&](const double* moved, double* y) {
                     kernels.conv2d_forward(context, shape, moved, w.get(), {}, y);
                   }));
    kernels.conv2d_backward_weight(context, shape, x.get(), dy.get(), dw.get());
    check_gradient(dw, central_differences(w, dy, [&](const double* moved, double* y) {
                     kernels.conv2d_forward(context, shape, x.get(), moved, {}, y);
                   }));
  }
}

TEST_CASE("conv2d: groups are separate convolutions", "[conv2d]") {
  // 2 groups over 3 and 5 channels, stride 2, against two convolutions with pitches that take a group from the whole.
  const Conv2dShape whole = square_conv2d(2, 9, 6, 10, 3, 2, 1, 2);
  Conv2dShape part = square_conv2d(2, 9, 3, 5, 3, 2, 1);
  part.x_stride = 6;
  part.y_stride = 10;
  const Buffer<float> x = random_x(whole), w = random_w(whole), dy = random_y(whole);
  for (const Backend* row : rows_with(kForward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(dy.size()), parts(dy.size());
    row->f32.conv2d_forward(context, whole, x.get(), w.get(), {}, y.get());
    for (int g = 0; g < 2; ++g) {
      row->f32.conv2d_forward(context, part, x.get() + 3 * g, w.get() + g * w.size() / 2, {}, parts.get() + 5 * g);
    }
    check_values(y, parts.values(), 1e-5);
  }
  for (const Backend* row : rows_with(kBackwardInput)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dx(x.size()), parts(x.size());
    row->f32.conv2d_backward_input(context, whole, dy.get(), w.get(), dx.get());
    for (int g = 0; g < 2; ++g) {
      row->f32.conv2d_backward_input(context, part, dy.get() + 5 * g, w.get() + g * w.size() / 2, parts.get() + 3 * g);
    }
    check_values(dx, parts.values(), 1e-5);
  }
  for (const Backend* row : rows_with(kBackwardWeight)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dw(w.size()), parts(w.size());
    row->f32.conv2d_backward_weight(context, whole, x.get(), dy.get(), dw.get());
    for (int g = 0; g < 2; ++g) {
      row->f32.conv2d_backward_weight(context, part, x.get() + 3 * g, dy.get() + 5 * g, parts.get() + g * w.size() / 2);
    }
    check_values(dw, parts.values(), 1e-5);
  }
}

}  // namespace
}  // namespace dnn::test
