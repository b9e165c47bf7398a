#include "rows.h"

namespace dnn::test {
namespace {

const auto kArgmax = &Kernels<float>::argmax;

TEST_CASE("argmax: the first of the largest, a NaN before all", "[argmax]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const Buffer<float> x({1,    5,    2,    5,     //
                         -1,   -3,   -1,   -2,    //
                         0,    0,    0,    0,     //
                         -inf, -inf, -inf, -inf,  //
                         -inf, -9,   -inf, -inf,  //
                         1,    inf,  nan,  nan,   //
                         nan,  1,    2,    inf});
  for (const Backend* row : rows_with(kArgmax)) {
    INFO(row->name);
    Context context(*row);
    Buffer<int32_t> y(7);
    row->f32.argmax(context, {7, 4}, x.get(), y.get());
    y.check_guards();
    CHECK(y.values() == std::vector<int32_t>{1, 0, 0, 0, 1, 2, 0});
  }
}

TEST_CASE("argmax: every row against the reference", "[argmax]") {
  std::vector<RowsShape> shapes{{0, 10}, {1000, 10}, {7, 1000}, {2, 4099}, {70000, 1}};
  for (const int cols : odd_sizes()) shapes.push_back({40, cols});
  for (const RowsShape& shape : shapes) {
    auto x = Buffer<float>::random(shape.count(), 1);
    for (int64_t i = 0; i < x.size(); ++i) x[i] = std::round(x[i] * 8);  // so that there are equal values
    Buffer<int32_t> expected(shape.rows);
    Context reference(reference_row());
    reference_row().f64.argmax(reference, shape, convert<double>(x).get(), expected.get());
    for (const Backend* row : rows_with(kArgmax)) {
      INFO(row->name << ", " << shape.rows << " x " << shape.cols);
      Context context(*row);
      Buffer<int32_t> y(shape.rows);
      row->f32.argmax(context, shape, x.get(), y.get());
      y.check_guards();
      REQUIRE((y.values() == expected.values()));
    }
  }
}

}  // namespace
}  // namespace dnn::test
