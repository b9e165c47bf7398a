#include "cpu_rows.h"
#include "gradients.h"

namespace dnn::test {
namespace {

int64_t x_count(const ResizeShape& p) { return p.x_pixels() * p.c; }
int64_t y_count(const ResizeShape& p) { return p.y_pixels() * p.c; }

std::vector<ResizeShape> shapes() {
  std::vector<ResizeShape> found{{0, 5, 4, 3, 2, 2},     {2, 9, 8, 17, 9, 3},    {1, 1, 1, 5, 3, 4},
                                 {3, 13, 13, 33, 6, 6},  {1, 40, 120, 5, 1, 2},  {1, 3, 2000, 3, 2, 1},
                                 {1, 56, 56, 64, 1, 1},  {40, 7, 7, 24, 1, 1},   {0, 4, 4, 8, 1, 1},
                                 {2, 150, 150, 1, 1, 1}, {1, 64, 64, 40, 32, 16}};
  for (const int c : odd_sizes()) {
    found.push_back({2, 7, 5, c, 3, 2});
    found.push_back({1, 4, 3, c, 7, 5});
    found.push_back({2, 6, 7, c, 1, 1});
  }
  return found;
}

TEST_CASE("adaptive_avg_pool2d: values by hand", "[adaptive_pool]") {
  const ResizeShape p{1, 3, 4, 1, 2, 3};  // windows of rows 0-1, 1-2; of columns 0-1, 1-2, 2-3
  const Buffer<float> x({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f, 9.0f, 10.0f, 11.0f, 12.0f});
  const Buffer<float> dy({4.0f, 8.0f, 12.0f, 16.0f, 20.0f, 24.0f});
  for (const Backend* row : rows_with(&Kernels<float>::adaptive_avg_pool2d_forward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(6), dx(12), one(1);
    row->f32.adaptive_avg_pool2d_forward(context, p, x.get(), y.get());
    check_values<float>(y, {3.5f, 4.5f, 5.5f, 7.5f, 8.5f, 9.5f});
    row->f32.adaptive_avg_pool2d_backward(context, p, dy.get(), dx.get());
    check_values<float>(dx, {1, 3, 5, 3, 5, 12, 16, 9, 4, 9, 11, 6});
    row->f32.adaptive_avg_pool2d_forward(context, {1, 3, 4, 1, 1, 1}, x.get(), one.get());
    check_values<float>(one, {6.5f});
  }
}

TEST_CASE("adaptive_avg_pool2d: every row against the reference", "[adaptive_pool]") {
  for (const ResizeShape& p : shapes()) {
    const auto x = Buffer<float>::random(x_count(p), 1), dy = Buffer<float>::random(y_count(p), 2);
    Context reference(reference_row());
    const Kernels<double>& exact = reference_row().f64;
    Buffer<double> y64(y_count(p)), y_scale(y_count(p)), dx64(x_count(p)), dx_scale(x_count(p));
    exact.adaptive_avg_pool2d_forward(reference, p, convert<double>(x).get(), y64.get());
    exact.adaptive_avg_pool2d_forward(reference, p, convert<double>(absolute(x)).get(), y_scale.get());
    exact.adaptive_avg_pool2d_backward(reference, p, convert<double>(dy).get(), dx64.get());
    exact.adaptive_avg_pool2d_backward(reference, p, convert<double>(absolute(dy)).get(), dx_scale.get());
    for (const Backend* row : rows_with(&Kernels<float>::adaptive_avg_pool2d_forward)) {
      INFO(row->name << ", " << p.n << "x" << p.h << "x" << p.w << "x" << p.c << " to " << p.oh << "x" << p.ow);
      Context context(*row);
      Buffer<float> y(y_count(p)), dx(x_count(p));
      row->f32.adaptive_avg_pool2d_forward(context, p, x.get(), y.get());
      check_close(y, y64, y_scale, 1);
      row->f32.adaptive_avg_pool2d_backward(context, p, dy.get(), dx.get());
      check_close(dx, dx64, dx_scale, 1);
    }
  }
}

TEST_CASE("adaptive_avg_pool2d: the average of many ones is one", "[adaptive_pool]") {
  const ResizeShape p{1, 4097, 4097, 1, 1, 1};
  const Buffer<float> x(x_count(p), 1.0f);
  for (const Backend* row : rows_with(&Kernels<float>::adaptive_avg_pool2d_forward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(2);
    row->f32.adaptive_avg_pool2d_forward(context, p, x.get(), y.get());
    CHECK(y[0] == 1.0f);
    // Two windows that overlap in a column, and so don't take the path of one for all.
    row->f32.adaptive_avg_pool2d_forward(context, {1, 4097, 4097, 1, 1, 2}, x.get(), y.get());
    CHECK(y[0] == 1.0f);
    CHECK(y[1] == 1.0f);
  }
}

TEST_CASE("adaptive_avg_pool2d: threads, and results larger than the caches", "[adaptive_pool]") {
  const ResizeShape many{2, 33, 31, 37, 5, 7}, one{1, 90, 80, 24, 1, 1};
  const auto x = Buffer<float>::random(x_count(one), 1), dy = Buffer<float>::random(y_count(many), 2);
  for (const Backend* row : cpu_rows()) {
    INFO(row->name);
    for (const ResizeShape& p : {many, one}) {
      check_same_bits(*row, y_count(p), [&](Context& context, float* y) {
        row->f32.adaptive_avg_pool2d_forward(context, p, x.get(), y);
      });
      check_same_bits(*row, x_count(p), [&](Context& context, float* dx) {
        row->f32.adaptive_avg_pool2d_backward(context, p, dy.get(), dx);
      });
    }
    const ResizeShape large{3, 244, 240, 48, 122, 120};
    Context context(*row);
    const Aligned up(*row, y_count(large)), down(*row, x_count(large));
    for (int64_t i = 0; i < y_count(large); ++i) up.get()[i] = value_at(i);
    row->f32.adaptive_avg_pool2d_backward(context, large, up.get(), down.get());
    CHECK(down.first_other_than([&](int64_t i) {
      const int64_t pixel = i / 48, picture_row = pixel / 240;
      return value_at((picture_row / 2 * 120 + pixel % 240 / 2) * 48 + i % 48) / 4;
    }) == -1);
  }
}

TEST_CASE("adaptive_avg_pool2d: gradient of the reference by central differences", "[adaptive_pool]") {
  Context context(reference_row());
  for (const ResizeShape& p : {ResizeShape{2, 5, 4, 2, 3, 3}, ResizeShape{1, 2, 3, 2, 5, 4}}) {
    const auto x = Buffer<double>::random(x_count(p), 1), dy = Buffer<double>::random(y_count(p), 2);
    Buffer<double> dx(x_count(p));
    reference_row().f64.adaptive_avg_pool2d_backward(context, p, dy.get(), dx.get());
    check_gradient(dx, central_differences(x, dy, [&](const double* moved, double* y) {
                     reference_row().f64.adaptive_avg_pool2d_forward(context, p, moved, y);
                   }));
  }
}

}  // namespace
}  // namespace dnn::test
