#include "axes.h"

namespace dnn::test {
namespace {

const auto kTopk = &Kernels<float>::topk;

TEST_CASE("topk: values by hand", "[topk]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const Backend* row : rows_with(kTopk)) {
    INFO(row->name);
    Context context(*row);
    const auto run = [&](const std::vector<float>& x, const AxisShape& shape, int k, bool largest,
                         const std::vector<float>& values, const std::vector<int32_t>& places) {
      const auto count = static_cast<int64_t>(values.size());
      Buffer<float> y(count);
      Buffer<int32_t> index(count);
      row->f32.topk(context, shape, k, largest, Buffer<float>(x).get(), y.get(), index.get());
      y.check_guards();
      index.check_guards();
      CHECK(index.values() == places);
      for (int64_t i = 0; i < count; ++i) CHECK((y[i] == values[i] || (std::isnan(y[i]) && std::isnan(values[i]))));
    };
    const std::vector<float> x{3, 1, 4, 1, 5, 9};
    run(x, {1, 6, 1}, 3, true, {9, 5, 4}, {5, 4, 2});
    run(x, {1, 6, 1}, 3, false, {1, 1, 3}, {1, 3, 0});
    run(x, {2, 3, 1}, 1, true, {4, 9}, {2, 2});
    run(x, {1, 3, 2}, 2, true, {5, 9, 4, 1}, {2, 2, 1, 0});
    run(x, {1, 6, 1}, 6, true, {9, 5, 4, 3, 1, 1}, {5, 4, 2, 0, 1, 3});
    run({0, -0.0f, 0, -1}, {1, 4, 1}, 3, true, {0, 0, 0}, {0, 1, 2});
    run({1, nan, -inf, inf, nan}, {1, 5, 1}, 4, true, {nan, nan, inf, 1}, {1, 4, 3, 0});
    run({1, nan, -inf, inf, nan}, {1, 5, 1}, 4, false, {-inf, 1, inf, nan}, {2, 0, 3, 1});
    run(x, {1, 6, 1}, 0, true, {}, {});
  }
}

TEST_CASE("topk: every row against the reference", "[topk]") {
  for (const AxisShape& shape : axis_cases()) {
    const auto x = few_values(shape.count(), 1);
    for (const int k : {1, 2, shape.size / 2, shape.size}) {
      if (k > shape.size) continue;
      for (const bool largest : {true, false}) {
        const int64_t count = shape.lines() * k;
        Context reference(reference_row());
        Buffer<double> y64(count);
        Buffer<int32_t> expected(count);
        reference_row().f64.topk(reference, shape, k, largest, convert<double>(x).get(), y64.get(), expected.get());
        for (const Backend* row : rows_with(kTopk)) {
          INFO(row->name << ", " << k << " of " << describe(shape));
          Context context(*row);
          Buffer<float> y(count);
          Buffer<int32_t> index(count);
          row->f32.topk(context, shape, k, largest, x.get(), y.get(), index.get());
          y.check_guards();
          index.check_guards();
          REQUIRE((index.values() == expected.values()));
          REQUIRE((y.values() == convert<float>(y64).values()));
        }
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
