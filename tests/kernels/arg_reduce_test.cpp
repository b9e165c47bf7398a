#include "axes.h"

namespace dnn::test {
namespace {

const auto kArgReduce = &Kernels<float>::arg_reduce;

TEST_CASE("arg_reduce: the first of the best, a NaN before all", "[arg_reduce]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<float> x{1,     5,    2,    5,     //
                             -1,    -3,   -1,   -3,    //
                             0,     0,    0,    0,     //
                             -inf,  -inf, -inf, -inf,  //
                             -inf,  -9,   inf,  inf,   //
                             1,     inf,  nan,  nan,   //
                             nan,   1,    2,    inf,   //
                             -0.0f, 0,    -1,   1};
  const std::vector<int32_t> largest{1, 0, 0, 0, 2, 2, 0, 3}, smallest{0, 1, 0, 0, 0, 2, 0, 2};
  std::vector<float> turned(x.size());
  for (size_t i = 0; i < x.size(); ++i) turned[i % 4 * 8 + i / 4] = x[i];
  for (const Backend* row : rows_with(kArgReduce)) {
    INFO(row->name);
    Context context(*row);
    const auto places = [&](ArgOp op, const AxisShape& shape, const std::vector<float>& values) {
      Buffer<int32_t> index(8);
      row->f32.arg_reduce(context, op, shape, Buffer<float>(values).get(), index.get());
      index.check_guards();
      return index.values();
    };
    CHECK(places(ArgOp::max, {8, 4, 1}, x) == largest);
    CHECK(places(ArgOp::min, {8, 4, 1}, x) == smallest);
    CHECK(places(ArgOp::max, {1, 4, 8}, turned) == largest);
    CHECK(places(ArgOp::min, {1, 4, 8}, turned) == smallest);
  }
}

TEST_CASE("arg_reduce: every row against the reference", "[arg_reduce]") {
  for (const AxisShape& shape : axis_cases()) {
    if (shape.size == 0) continue;
    auto x = few_values(shape.count(), 1);
    if (x.size() > 20) x[x.size() / 3] = std::nanf("");
    for (const ArgOp op : {ArgOp::max, ArgOp::min}) {
      Buffer<int32_t> expected(shape.lines());
      Context reference(reference_row());
      reference_row().f64.arg_reduce(reference, op, shape, convert<double>(x).get(), expected.get());
      for (const Backend* row : rows_with(kArgReduce)) {
        INFO(row->name << ", " << describe(shape));
        Context context(*row);
        Buffer<int32_t> index(shape.lines());
        row->f32.arg_reduce(context, op, shape, x.get(), index.get());
        index.check_guards();
        REQUIRE((index.values() == expected.values()));
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
