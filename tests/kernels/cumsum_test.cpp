#include "axes.h"

namespace dnn::test {
namespace {

const auto kCumsum = &Kernels<float>::cumsum;

TEST_CASE("cumsum: values by hand", "[cumsum]") {
  const Buffer<float> x({1, 2, 3, 4, 5, 6});
  for (const Backend* row : rows_with(kCumsum)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(6);
    row->f32.cumsum(context, {2, 3, 1}, false, x.get(), y.get());
    check_values<float>(y, {1, 3, 6, 4, 9, 15});
    row->f32.cumsum(context, {2, 3, 1}, true, x.get(), y.get());
    check_values<float>(y, {6, 5, 3, 15, 11, 6});
    row->f32.cumsum(context, {1, 2, 3}, false, x.get(), y.get());
    check_values<float>(y, {1, 2, 3, 5, 7, 9});
    row->f32.cumsum(context, {1, 2, 3}, true, x.get(), y.get());
    check_values<float>(y, {5, 7, 9, 4, 5, 6});
  }
}

TEST_CASE("cumsum: every row against the reference", "[cumsum]") {
  for (const AxisShape& shape : axis_cases()) {
    const auto x = Buffer<float>::random(shape.count(), 1);
    for (const bool reverse : {false, true}) {
      Context reference(reference_row());
      Buffer<double> y64(shape.count()), scale(shape.count());
      reference_row().f64.cumsum(reference, shape, reverse, convert<double>(x).get(), y64.get());
      reference_row().f64.cumsum(reference, shape, reverse, absolute(convert<double>(x)).get(), scale.get());
      for (const Backend* row : rows_with(kCumsum)) {
        INFO(row->name << ", " << describe(shape) << (reverse ? ", from the end" : ""));
        Context context(*row);
        Buffer<float> y(shape.count());
        row->f32.cumsum(context, shape, reverse, x.get(), y.get());
        check_close(y, y64, scale, 1);
      }
    }
  }
}

TEST_CASE("cumsum: a sum of many is as exact as one of few", "[cumsum]") {
  const int size = 1 << 25;
  const Buffer<float> x(size, 1);
  for (const Backend* row : rows_with(kCumsum)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(size);
    row->f32.cumsum(context, {1, size, 1}, false, x.get(), y.get());
    CHECK(y[size - 1] == static_cast<float>(size));  // a float would stall at 2^24
  }
}

}  // namespace
}  // namespace dnn::test
