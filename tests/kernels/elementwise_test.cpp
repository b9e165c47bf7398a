#include "rows.h"

namespace dnn::test {
namespace {

struct Operation {
  std::string name;
  Kernel<float, const BroadcastShape&, const float*, const float*, float*> Kernels<float>::*f32;
  Kernel<double, const BroadcastShape&, const double*, const double*, double*> Kernels<double>::*f64;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all{{"add", &Kernels<float>::add, &Kernels<double>::add},
                                          {"sub", &Kernels<float>::sub, &Kernels<double>::sub},
                                          {"mul", &Kernels<float>::mul, &Kernels<double>::mul},
                                          {"div", &Kernels<float>::div, &Kernels<double>::div}};
  return all;
}

using Dims = std::vector<int>;

int64_t product(const Dims& dims) {
  int64_t count = 1;
  for (const int size : dims) count *= size;
  return count;
}

BroadcastShape broadcast(const Dims& a, const Dims& b) {
  return BroadcastShape::of(a.data(), static_cast<int>(a.size()), b.data(), static_cast<int>(b.size()));
}

TEST_CASE("elementwise: values by hand", "[elementwise]") {
  const std::vector<std::vector<float>> expected{
      {3, 0, 5, 6, 3, 8}, {-1, 4, 1, 2, 7, 4}, {2, -4, 6, 8, -10, 12}, {0.5f, -1, 1.5f, 2, -2.5f, 3}};
  for (size_t i = 0; i < operations().size(); ++i) {
    const Operation& op = operations()[i];
    for (const Backend* row : rows_with(op.f32)) {
      INFO(op.name << " on " << row->name);
      Context context(*row);
      const Buffer<float> a({1, 2, 3, 4, 5, 6}), b({2, -2, 2});
      Buffer<float> y(6);
      (row->f32.*op.f32)(context, broadcast({2, 3}, {3}), a.get(), b.get(), y.get());
      check_values<float>(y, expected[i]);
    }
  }
}

TEST_CASE("elementwise: along a dimension in which neither operand varies", "[elementwise]") {
  const BroadcastShape shape{3, {2, 2, 3}, {0, 0, 0}, {1, 0, 0}};
  for (const Operation& op : operations()) {
    for (const Backend* row : rows_with(op.f32)) {
      INFO(op.name << " on " << row->name);
      Context context(*row);
      const Buffer<float> a({6}), b({2, -3});
      Buffer<float> y(12), first(1), second(1);
      (row->f32.*op.f32)(context, shape, a.get(), b.get(), y.get());
      (row->f32.*op.f32)(context, {}, a.get(), b.get(), first.get());
      (row->f32.*op.f32)(context, {}, a.get(), b.get() + 1, second.get());
      const float one = first[0], two = second[0];
      check_values<float>(y, {one, one, one, one, one, one, two, two, two, two, two, two});
    }
  }
}

TEST_CASE("elementwise: every row against the reference", "[elementwise]") {
  std::vector<std::pair<Dims, Dims>> shapes{{{}, {}},
                                            {{1}, {1}},
                                            {{100003}, {100003}},
                                            {{50021}, {}},
                                            {{}, {50021}},
                                            {{0, 3}, {3}},
                                            {{4, 0}, {1, 1}},
                                            {{300, 1}, {1, 257}},
                                            {{2, 5, 1, 7}, {5, 9, 1}},
                                            {{3, 1, 4, 1, 5, 1}, {1, 2, 1, 6, 1, 2}},
                                            {{8, 14, 14, 24}, {24}},
                                            {{8, 1, 1, 24}, {8, 14, 14, 24}},
                                            {{6, 500, 1}, {6, 1, 33}}};
  for (const int size : odd_sizes()) {
    shapes.push_back({{5, size}, {5, size}});
    shapes.push_back({{5, size}, {size}});
    shapes.push_back({{5, size}, {5, 1}});
    shapes.push_back({{1, size}, {5, 1}});
    shapes.push_back({{}, {size}});
  }
  for (const auto& [a_dims, b_dims] : shapes) {
    const BroadcastShape shape = broadcast(a_dims, b_dims);
    const auto a = Buffer<float>::random(product(a_dims), 1);
    auto b = Buffer<float>::random(product(b_dims), 2);
    for (int64_t i = 0; i < b.size(); ++i) b[i] += b[i] < 0 ? -0.5f : 0.5f;
    const Buffer<double> a64 = convert<double>(a), b64 = convert<double>(b);
    for (const Operation& op : operations()) {
      Context reference(reference_row());
      Buffer<double> y64(shape.count());
      (reference_row().f64.*op.f64)(reference, shape, a64.get(), b64.get(), y64.get());
      for (const Backend* row : rows_with(op.f32)) {
        INFO(op.name << " on " << row->name << ", " << Catch::Detail::stringify(a_dims) << " and "
                     << Catch::Detail::stringify(b_dims));
        Context context(*row);
        Buffer<float> y(shape.count());
        (row->f32.*op.f32)(context, shape, a.get(), b.get(), y.get());
        check_close(y, y64, y64, 1);
        if (a.size() == shape.count()) {
          Buffer<float> in_place = a;
          (row->f32.*op.f32)(context, shape, in_place.get(), b.get(), in_place.get());
          in_place.check_guards();
          REQUIRE((in_place.values() == y.values()));
        }
        if (b.size() == shape.count()) {
          Buffer<float> in_place = b;
          (row->f32.*op.f32)(context, shape, a.get(), in_place.get(), in_place.get());
          in_place.check_guards();
          REQUIRE((in_place.values() == y.values()));
        }
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
