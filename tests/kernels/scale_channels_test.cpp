#include "cpu_rows.h"
#include "gradients.h"

namespace dnn::test {
namespace {

std::vector<ChannelScaleShape> shapes() {
  std::vector<ChannelScaleShape> found{{0, 4, 3}, {2, 0, 3}, {1, 12544, 64}, {32, 49, 72}, {3, 5000, 7}, {70, 1, 960}};
  for (const int c : odd_sizes()) found.push_back({3, 35, c});
  return found;
}

TEST_CASE("scale_channels: values by hand", "[scale_channels]") {
  const ChannelScaleShape shape{2, 2, 2};
  const Buffer<float> x({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f}), scale({1.0f, 10.0f, 0.0f, -1.0f});
  const Buffer<float> dy({1.0f, 1.0f, 2.0f, 3.0f, 1.0f, 0.0f, 1.0f, 2.0f});
  for (const Backend* row : rows_with(&Kernels<float>::scale_channels_forward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(8), dx(8), dscale(4);
    row->f32.scale_channels_forward(context, shape, x.get(), scale.get(), y.get());
    check_values<float>(y, {1, 20, 3, 40, 0, -6, 0, -8});
    row->f32.scale_channels_backward(context, shape, x.get(), scale.get(), dy.get(), dx.get(), dscale.get());
    check_values<float>(dx, {1, 10, 2, 30, 0, 0, 0, -2});
    check_values<float>(dscale, {7, 14, 12, 16});
  }
}

TEST_CASE("scale_channels: every row against the reference, each gradient also alone", "[scale_channels]") {
  for (const ChannelScaleShape& shape : shapes()) {
    const int64_t count = shape.count(), factors = int64_t{shape.n} * shape.c;
    const auto x = Buffer<float>::random(count, 1), dy = Buffer<float>::random(count, 2);
    const auto scale = Buffer<float>::random(factors, 3);
    const auto x64 = convert<double>(x), dy64 = convert<double>(dy), scale64 = convert<double>(scale);
    Context reference(reference_row());
    const Kernels<double>& exact = reference_row().f64;
    Buffer<double> y64(count), dx64(count), dscale64(factors), bound(factors);
    exact.scale_channels_forward(reference, shape, x64.get(), scale64.get(), y64.get());
    exact.scale_channels_backward(reference, shape, x64.get(), scale64.get(), dy64.get(), dx64.get(), dscale64.get());
    exact.scale_channels_backward(reference, shape, absolute(x64).get(), scale64.get(), absolute(dy64).get(), nullptr,
                                  bound.get());
    for (const Backend* row : rows_with(&Kernels<float>::scale_channels_forward)) {
      INFO(row->name << ", " << shape.n << "x" << shape.pixels << "x" << shape.c);
      Context context(*row);
      const Kernels<float>& k = row->f32;
      Buffer<float> y(count), dx(count), dscale(factors), dx_alone(count), dscale_alone(factors);
      k.scale_channels_forward(context, shape, x.get(), scale.get(), y.get());
      check_close(y, y64, absolute(y64), 1);
      k.scale_channels_backward(context, shape, x.get(), scale.get(), dy.get(), dx.get(), dscale.get());
      check_close(dx, dx64, absolute(dx64), 1);
      check_close(dscale, dscale64, bound, 1);
      k.scale_channels_backward(context, shape, x.get(), scale.get(), dy.get(), dx_alone.get(), nullptr);
      CHECK((dx_alone.values() == dx.values()));
      k.scale_channels_backward(context, shape, x.get(), scale.get(), dy.get(), nullptr, dscale_alone.get());
      CHECK((dscale_alone.values() == dscale.values()));
    }
  }
}

TEST_CASE("scale_channels: threads, and results larger than the caches", "[scale_channels]") {
  const ChannelScaleShape few{1, 6000, 19}, many{50, 60, 19};
  const int64_t count = few.count();
  const auto x = Buffer<float>::random(2 * count, 1), dy = Buffer<float>::random(2 * count, 2);
  const auto scale = Buffer<float>::random(1000, 3);
  for (const Backend* row : cpu_rows()) {
    INFO(row->name);
    for (const ChannelScaleShape& shape : {few, many}) {
      const int64_t factors = int64_t{shape.n} * shape.c;
      check_same_bits(*row, shape.count() + factors, [&](Context& context, float* dx) {
        row->f32.scale_channels_backward(context, shape, x.get(), scale.get(), dy.get(), dx, dx + shape.count());
      });
    }
    const ChannelScaleShape large{3, 60000, 48};
    Context context(*row);
    const Aligned from(*row, large.count()), to(*row, large.count());
    for (int64_t i = 0; i < large.count(); ++i) from.get()[i] = value_at(i);
    row->f32.scale_channels_forward(context, large, from.get(), scale.get(), to.get());
    CHECK(to.first_other_than([&](int64_t i) { return value_at(i) * scale[i / (60000 * 48) * 48 + i % 48]; }) == -1);
  }
}

TEST_CASE("scale_channels: gradients of the reference by central differences", "[scale_channels]") {
  Context context(reference_row());
  const Kernels<double>& k = reference_row().f64;
  const ChannelScaleShape shape{2, 3, 4};
  const auto x = Buffer<double>::random(24, 1), dy = Buffer<double>::random(24, 2);
  const auto scale = Buffer<double>::random(8, 3);
  Buffer<double> dx(24), dscale(8);
  k.scale_channels_backward(context, shape, x.get(), scale.get(), dy.get(), dx.get(), dscale.get());
  check_gradient(dx, central_differences(x, dy, [&](const double* moved, double* y) {
                   k.scale_channels_forward(context, shape, moved, scale.get(), y);
                 }));
  check_gradient(dscale, central_differences(scale, dy, [&](const double* moved, double* y) {
                   k.scale_channels_forward(context, shape, x.get(), moved, y);
                 }));
}

}  // namespace
}  // namespace dnn::test
