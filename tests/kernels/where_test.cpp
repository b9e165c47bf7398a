#include "broadcasts.h"

namespace dnn::test {
namespace {

const auto kWhere = &Kernels<float>::where;

TernaryShape broadcast(const Dims& condition, const Dims& a, const Dims& b) {
  return TernaryShape::of(condition.data(), static_cast<int>(condition.size()), a.data(), static_cast<int>(a.size()),
                          b.data(), static_cast<int>(b.size()));
}

// Any number but 0 is true.
Buffer<uint8_t> conditions(int64_t count) {
  Buffer<uint8_t> condition(count);
  const auto random = Buffer<float>::random(count, 3);
  for (int64_t i = 0; i < count; ++i) condition[i] = random[i] < 0 ? 0 : static_cast<uint8_t>(1 + 254 * random[i]);
  return condition;
}

TEST_CASE("where: values by hand", "[where]") {
  const float nan = std::nanf("");
  const Buffer<uint8_t> condition({1, 0, 255});
  const Buffer<float> a({1, nan, 3, 4, nan, 6}), b({-1, -2});
  for (const Backend* row : rows_with(kWhere)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(6), one(1);
    row->f32.where(context, broadcast({3}, {2, 3}, {2, 1}), condition.get(), a.get(), b.get(), y.get());
    check_values<float>(y, {1, -1, 3, 4, -2, 6});
    row->f32.where(context, broadcast({}, {}, {}), condition.get() + 1, a.get(), b.get(), one.get());
    check_values<float>(one, {-1});
  }
}

TEST_CASE("where: three shapes broadcast, neighbours merged", "[where]") {
  const TernaryShape shape = broadcast({4, 1, 1}, {2, 4, 5, 6}, {6});
  CHECK(shape.dims == 4);
  CHECK(shape.count() == 240);
  CHECK(broadcast({5, 6}, {5, 6}, {5, 6}).dims == 1);
  CHECK(broadcast({5, 6}, {}, {5, 6}).dims == 1);
  CHECK(broadcast({0}, {1}, {1}).count() == 0);
  CHECK_THROWS_WITH(broadcast({3}, {2}, {1}), Catch::Contains("sizes must be equal or 1; got 3 and 2"));
}

TEST_CASE("where: every row against the reference", "[where]") {
  std::vector<std::vector<Dims>> shapes{{{}, {}, {}},
                                        {{100003}, {100003}, {100003}},
                                        {{50021}, {}, {50021}},
                                        {{}, {50021}, {50021}},
                                        {{50021}, {}, {}},
                                        {{0, 3}, {3}, {}},
                                        {{300, 1}, {1, 257}, {300, 257}},
                                        {{2, 5, 1, 7}, {5, 9, 1}, {9, 7}},
                                        {{3, 1, 4, 1, 5, 1}, {1, 2, 1, 6, 1, 2}, {2}},
                                        {{8, 14, 14, 1}, {8, 14, 14, 24}, {24}}};
  for (const int size : odd_sizes()) {
    for (const Dims& condition : {Dims{5, size}, {size}, {5, 1}}) {
      for (const Dims& a : {Dims{5, size}, {5, 1}}) {
        for (const Dims& b : {Dims{5, size}, {size}, {}}) shapes.push_back({condition, a, b});
      }
    }
  }
  for (const std::vector<Dims>& dims : shapes) {
    const TernaryShape shape = broadcast(dims[0], dims[1], dims[2]);
    const Buffer<uint8_t> condition = conditions(product(dims[0]));
    const auto a = Buffer<float>::random(product(dims[1]), 1), b = Buffer<float>::random(product(dims[2]), 2);
    Context reference(reference_row());
    Buffer<double> expected(shape.count());
    reference_row().f64.where(reference, shape, condition.get(), convert<double>(a).get(), convert<double>(b).get(),
                              expected.get());
    for (const Backend* row : rows_with(kWhere)) {
      INFO(row->name << ", " << Catch::Detail::stringify(dims));
      Context context(*row);
      Buffer<float> y(shape.count());
      row->f32.where(context, shape, condition.get(), a.get(), b.get(), y.get());
      y.check_guards();
      REQUIRE((y.values() == convert<float>(expected).values()));
      if (a.size() == shape.count()) {
        Buffer<float> in_place = a;
        row->f32.where(context, shape, condition.get(), in_place.get(), b.get(), in_place.get());
        REQUIRE((in_place.values() == y.values()));
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
