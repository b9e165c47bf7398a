#include "cpu_rows.h"

namespace dnn::test {
namespace {

int64_t x_count(const Pad2dShape& p) { return int64_t{p.n} * p.h * p.w * p.c; }
int64_t y_count(const Pad2dShape& p) { return int64_t{p.n} * p.oh() * p.ow() * p.c; }

TEST_CASE("pad2d: values by hand", "[pad2d]") {
  const Buffer<float> x({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  for (const Backend* row : rows_with(&Kernels<float>::pad2d)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(12), cropped(2), both(6);
    row->f32.pad2d(context, {1, 2, 3, 1, 1, 0, 0, 1}, 9, x.get(), y.get());
    check_values<float>(y, {9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6, 9});
    row->f32.pad2d(context, {1, 2, 3, 1, 0, -1, -1, 0}, 9, x.get(), cropped.get());
    check_values<float>(cropped, {2, 3});
    row->f32.pad2d(context, {1, 2, 3, 1, -1, 2, 1, -2}, 9, x.get(), both.get());
    check_values<float>(both, {9, 9, 4, 9, 9, 9});
  }
}

// The reference in float gives the same bits: nothing is computed.
TEST_CASE("pad2d: every row against the reference, there and back", "[pad2d]") {
  std::vector<Pad2dShape> shapes{{0, 3, 3, 2, 1, 1, 1, 1}, {3, 40, 41, 17, 3, 2, 0, 1}};
  for (const int c : odd_sizes()) {
    shapes.push_back({2, 5, 4, c, 1, 2, 3, 0});
    shapes.push_back({2, 5, 6, c, -1, 2, 3, -2});
    shapes.push_back({2, 5, 4, c, 0, 0, 0, 0});
    shapes.push_back({2, 6, 7, c, -2, -1, -3, -5});
  }
  for (const Pad2dShape& p : shapes) {
    const auto x = Buffer<float>::random(x_count(p), 1), dy = Buffer<float>::random(y_count(p), 2);
    Context reference(reference_row());
    Buffer<float> expected(y_count(p)), expected_dx(x_count(p));
    reference_row().f32.pad2d(reference, p, 3, x.get(), expected.get());
    reference_row().f32.pad2d(reference, p.back(), 0, dy.get(), expected_dx.get());
    for (const Backend* row : cpu_rows()) {
      INFO(row->name << ", " << p.n << "x" << p.h << "x" << p.w << "x" << p.c << " with " << p.top << " " << p.left
                     << " " << p.bottom << " " << p.right);
      Context context(*row);
      Buffer<float> y(y_count(p)), dx(x_count(p));
      row->f32.pad2d(context, p, 3, x.get(), y.get());
      y.check_guards();
      CHECK((y.values() == expected.values()));
      row->f32.pad2d(context, p.back(), 0, dy.get(), dx.get());
      dx.check_guards();
      CHECK((dx.values() == expected_dx.values()));
    }
  }
}

// dx of x is what pad2d's own pattern says: sum of dy * pad(x) = sum of dx * x.
TEST_CASE("pad2d: the way back is the adjoint", "[pad2d]") {
  Context context(reference_row());
  for (const Pad2dShape& p : {Pad2dShape{2, 3, 4, 2, 1, 2, 0, 3}, Pad2dShape{2, 4, 5, 2, -1, 2, 1, -2}}) {
    const auto x = Buffer<double>::random(x_count(p), 1), dy = Buffer<double>::random(y_count(p), 2);
    Buffer<double> y(y_count(p)), dx(x_count(p));
    reference_row().f64.pad2d(context, p, 0, x.get(), y.get());
    reference_row().f64.pad2d(context, p.back(), 0, dy.get(), dx.get());
    double forward = 0, backward = 0;
    for (int64_t i = 0; i < y.size(); ++i) forward += y[i] * dy[i];
    for (int64_t i = 0; i < x.size(); ++i) backward += x[i] * dx[i];
    CHECK(std::abs(forward) > 1e-3);
    CHECK(forward == Approx(backward));
  }
}

TEST_CASE("pad2d: results larger than the caches", "[pad2d]") {
  const Pad2dShape p{3, 242, 238, 48, 1, 1, 1, 1};
  for (const Backend* row : cpu_rows()) {
    INFO(row->name);
    Context context(*row);
    const Aligned x(*row, x_count(p)), y(*row, y_count(p));
    for (int64_t i = 0; i < x_count(p); ++i) x.get()[i] = value_at(i);
    row->f32.pad2d(context, p, 600, x.get(), y.get());
    CHECK(y.first_other_than([&](int64_t i) {
      const int64_t ox = i / 48 % 240, oy = i / 48 / 240 % 244, n = i / 48 / 240 / 244;
      if (ox == 0 || ox == 239 || oy == 0 || oy == 243) return 600.0f;
      return value_at(((n * 242 + oy - 1) * 238 + ox - 1) * 48 + i % 48);
    }) == -1);
  }
}

}  // namespace
}  // namespace dnn::test
