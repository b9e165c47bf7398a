#include "broadcasts.h"

namespace dnn::test {
namespace {

const auto kCompare = &Kernels<float>::compare;

const std::vector<std::pair<std::string, CompareOp>>& comparisons() {
  static const std::vector<std::pair<std::string, CompareOp>> all{{"eq", CompareOp::eq}, {"ne", CompareOp::ne},
                                                                  {"lt", CompareOp::lt}, {"le", CompareOp::le},
                                                                  {"gt", CompareOp::gt}, {"ge", CompareOp::ge}};
  return all;
}

TEST_CASE("compare: values by hand", "[compare]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const Buffer<float> a({1, 2, 3, 0, nan, nan, 1, inf, -inf, 5}), b({2, 2, 2, -0.0f, nan, 1, nan, inf, inf, -5});
  const std::vector<std::vector<uint8_t>> expected{{0, 1, 0, 1, 0, 0, 0, 1, 0, 0}, {1, 0, 1, 0, 1, 1, 1, 0, 1, 1},
                                                   {1, 0, 0, 0, 0, 0, 0, 0, 1, 0}, {1, 1, 0, 1, 0, 0, 0, 1, 1, 0},
                                                   {0, 0, 1, 0, 0, 0, 0, 0, 0, 1}, {0, 1, 1, 1, 0, 0, 0, 1, 0, 1}};
  for (size_t i = 0; i < comparisons().size(); ++i) {
    for (const Backend* row : rows_with(kCompare)) {
      INFO(comparisons()[i].first << " on " << row->name);
      Context context(*row);
      Buffer<uint8_t> y(10);
      row->f32.compare(context, comparisons()[i].second, broadcast({10}, {10}), a.get(), b.get(), y.get());
      y.check_guards();
      CHECK(y.values() == expected[i]);
    }
  }
}

TEST_CASE("compare: every row against the reference", "[compare]") {
  for (const auto& [a_dims, b_dims] : broadcast_cases()) {
    const BroadcastShape shape = broadcast(a_dims, b_dims);
    const Buffer<float> a = few_values(product(a_dims), 1), b = few_values(product(b_dims), 2);
    for (const auto& [name, op] : comparisons()) {
      Context reference(reference_row());
      Buffer<uint8_t> expected(shape.count());
      reference_row().f64.compare(reference, op, shape, convert<double>(a).get(), convert<double>(b).get(),
                                  expected.get());
      for (const Backend* row : rows_with(kCompare)) {
        INFO(name << " on " << row->name << ", " << Catch::Detail::stringify(a_dims) << " and "
                  << Catch::Detail::stringify(b_dims));
        Context context(*row);
        Buffer<uint8_t> y(shape.count());
        row->f32.compare(context, op, shape, a.get(), b.get(), y.get());
        y.check_guards();
        REQUIRE((y.values() == expected.values()));
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
