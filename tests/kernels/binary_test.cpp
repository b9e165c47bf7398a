#include "broadcasts.h"

namespace dnn::test {
namespace {

const auto kBinary = &Kernels<float>::binary;

const std::vector<std::pair<std::string, BinaryOp>>& operations() {
  static const std::vector<std::pair<std::string, BinaryOp>> all{
      {"add", BinaryOp::add}, {"sub", BinaryOp::sub}, {"mul", BinaryOp::mul}, {"div", BinaryOp::div},
      {"min", BinaryOp::min}, {"max", BinaryOp::max}, {"pow", BinaryOp::pow}};
  return all;
}

TEST_CASE("binary: values by hand", "[binary]") {
  const std::vector<std::vector<float>> expected{
      {3, 0, 5, 6, 3, 8},   {-1, 4, 1, 2, 7, 4}, {2, -4, 6, 8, -10, 12},      {0.5f, -1, 1.5f, 2, -2.5f, 3},
      {1, -2, 2, 2, -2, 2}, {2, 2, 3, 4, 5, 6},  {1, 0.25f, 9, 16, 0.04f, 36}};
  for (size_t i = 0; i < operations().size(); ++i) {
    const auto& [name, op] = operations()[i];
    for (const Backend* row : rows_with(kBinary)) {
      INFO(name << " on " << row->name);
      Context context(*row);
      const Buffer<float> a({1, 2, 3, 4, 5, 6}), b({2, -2, 2});
      Buffer<float> y(6);
      row->f32.binary(context, op, broadcast({2, 3}, {3}), a.get(), b.get(), y.get());
      check_values<float>(y, expected[i]);
    }
  }
}

TEST_CASE("binary: along a dimension in which neither operand varies", "[binary]") {
  const BroadcastShape shape{3, {2, 2, 3}, {0, 0, 0}, {1, 0, 0}};
  for (const auto& [name, op] : operations()) {
    for (const Backend* row : rows_with(kBinary)) {
      INFO(name << " on " << row->name);
      Context context(*row);
      const Buffer<float> a({6}), b({2, -3});
      Buffer<float> y(12), first(1), second(1);
      row->f32.binary(context, op, shape, a.get(), b.get(), y.get());
      row->f32.binary(context, op, {}, a.get(), b.get(), first.get());
      row->f32.binary(context, op, {}, a.get(), b.get() + 1, second.get());
      const float one = first[0], two = second[0];
      check_values<float>(y, {one, one, one, one, one, one, two, two, two, two, two, two});
    }
  }
}

bool same(float y, float expected) { return std::isnan(expected) ? std::isnan(y) : y == expected; }

TEST_CASE("binary: minimum, maximum and power of what is not a plain number", "[binary]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf(""), tiny = 1e-45f, most = 3.4028235e38f;
  const std::vector<float> values{0, -0.0f, 1, -1, 2, -2, 3, -3, 0.5f, -0.5f, inf, -inf, nan, tiny, -tiny, most, -most};
  std::vector<float> left, right;
  for (const float a : values) {
    for (const float b : values) {
      left.push_back(a);
      right.push_back(b);
    }
  }
  const Buffer<float> a(left), b(right);
  const Dims dims{static_cast<int>(left.size())};
  for (const Backend* row : rows_with(kBinary)) {
    Context context(*row);
    Buffer<float> least(a.size()), largest(a.size()), power(a.size());
    row->f32.binary(context, BinaryOp::min, broadcast(dims, dims), a.get(), b.get(), least.get());
    row->f32.binary(context, BinaryOp::max, broadcast(dims, dims), a.get(), b.get(), largest.get());
    row->f32.binary(context, BinaryOp::pow, broadcast(dims, dims), a.get(), b.get(), power.get());
    for (int64_t i = 0; i < a.size(); ++i) {
      INFO(row->name << ": " << a[i] << " and " << b[i]);
      const bool has_nan = std::isnan(a[i]) || std::isnan(b[i]);
      CHECK(same(least[i], has_nan ? nan : std::fmin(a[i], b[i])));
      CHECK(same(largest[i], has_nan ? nan : std::fmax(a[i], b[i])));
      const float expected = std::pow(a[i], b[i]);
      const bool close = std::abs(power[i] - expected) <= 1e-6f * std::abs(expected) + tiny;
      CHECK((same(power[i], expected) || (std::isfinite(expected) && close)));
      CHECK((std::isnan(expected) || std::signbit(power[i]) == std::signbit(expected)));
    }
  }
}

TEST_CASE("binary: every row against the reference", "[binary]") {
  for (const auto& [a_dims, b_dims] : broadcast_cases()) {
    const BroadcastShape shape = broadcast(a_dims, b_dims);
    auto b = Buffer<float>::random(product(b_dims), 2);
    for (int64_t i = 0; i < b.size(); ++i) b[i] += b[i] < 0 ? -0.5f : 0.5f;
    const Buffer<double> b64 = convert<double>(b);
    for (const auto& [name, op] : operations()) {
      const auto signed_a = Buffer<float>::random(product(a_dims), 1);
      const auto a = op == BinaryOp::pow ? absolute(signed_a) : signed_a;
      Context reference(reference_row());
      Buffer<double> y64(shape.count());
      reference_row().f64.binary(reference, op, shape, convert<double>(a).get(), b64.get(), y64.get());
      for (const Backend* row : rows_with(kBinary)) {
        INFO(name << " on " << row->name << ", " << Catch::Detail::stringify(a_dims) << " and "
                  << Catch::Detail::stringify(b_dims));
        Context context(*row);
        Buffer<float> y(shape.count());
        row->f32.binary(context, op, shape, a.get(), b.get(), y.get());
        check_close(y, y64, y64, 1);
        if (a.size() == shape.count()) {
          Buffer<float> in_place = a;
          row->f32.binary(context, op, shape, in_place.get(), b.get(), in_place.get());
          in_place.check_guards();
          REQUIRE((in_place.values() == y.values()));
        }
        if (b.size() == shape.count()) {
          Buffer<float> in_place = b;
          row->f32.binary(context, op, shape, a.get(), in_place.get(), in_place.get());
          in_place.check_guards();
          REQUIRE((in_place.values() == y.values()));
        }
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
