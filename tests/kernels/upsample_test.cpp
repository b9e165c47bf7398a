#include <kernels/cpu/lines.h>

#include "cpu_rows.h"
#include "gradients.h"

namespace dnn::test {
namespace {

int64_t x_count(const ResizeShape& p) { return p.x_pixels() * p.c; }
int64_t y_count(const ResizeShape& p) { return p.y_pixels() * p.c; }

// The four kernels of one kind.
template <class T>
struct Pair {
  Kernel<T, const ResizeShape&, const T*, T*> forward, backward;
};

template <class T>
Pair<T> kernels_of(const Kernels<T>& k, bool bilinear) {
  if (bilinear) return {k.upsample_bilinear2d_forward, k.upsample_bilinear2d_backward};
  return {k.upsample_nearest2d_forward, k.upsample_nearest2d_backward};
}

std::vector<ResizeShape> shapes() {
  std::vector<ResizeShape> found{{0, 5, 4, 3, 2, 2},     {1, 1, 1, 21, 33, 17}, {2, 9, 8, 17, 9, 8},
                                 {1, 7, 9, 3, 7, 30},    {2, 40, 37, 5, 6, 11}, {1, 30, 30, 16, 61, 59},
                                 {1, 1, 2, 3, 100, 150}, {3, 13, 1, 9, 27, 1}};
  for (const int c : odd_sizes()) {
    found.push_back({2, 4, 3, c, 8, 6});
    found.push_back({1, 5, 7, c, 3, 4});
    found.push_back({1, 3, 5, c, 8, 7});
    found.push_back({2, 7, 5, c, 10, 7, false, 1.5, 1.5});
    found.push_back({1, 5, 7, c, 3, 11, false, 0, 0, true});
  }
  found.push_back({1, 11, 13, 5, 4, 9, false, 0.4, 0.7});
  found.push_back({1, 9, 9, 16, 9, 23, false, 1.05, 2.6});
  found.push_back({2, 40, 37, 5, 2, 5, false, 0.07, 0.15});
  found.push_back({2, 40, 37, 5, 2, 5, false, 0.07, 0.15, true});
  found.push_back({1, 9, 9, 16, 9, 23, false, 1.05, 2.6, true});
  return found;
}

TEST_CASE("upsample: values by hand", "[upsample]") {
  // As torch.nn.functional.interpolate gives them.
  struct Case {
    bool bilinear;
    ResizeShape shape;
    std::vector<float> y;
  };
  const std::vector<Case> cases{
      {false, {1, 2, 3, 1, 3, 5}, {1, 1, 2, 2, 4, 1, 1, 2, 2, 4, 3, 3, 0, 0, -2}},
      {false, {1, 2, 3, 1, 1, 2}, {1, 2}},
      {true, {1, 2, 3, 1, 3, 5}, {1, 1.4f, 2, 3.2f, 4, 2, 1.6f, 1, 1, 1, 3, 1.8f, 0, -1.2f, -2}},
      {true, {1, 2, 3, 1, 3, 5, true}, {1, 1.5f, 2, 3, 4, 2, 1.5f, 1, 1, 1, 3, 1.5f, 0, -1, -2}},
      {true, {1, 2, 3, 1, 1, 2}, {1.75f, 1}},
      {true, {1, 2, 3, 1, 1, 2, true}, {1, 4}},
      // scale_factor = (1, 1.5): pixel i of 4 is taken from i / 1.5, not from i * 3 / 4.
      {false, {1, 2, 3, 1, 2, 4, false, 0, 1.5}, {1, 1, 2, 4, 3, 3, 0, -2}},
      {true, {1, 2, 3, 1, 2, 4, false, 0, 1.5}, {1, 1.5f, 2.3333333f, 3.6666667f, 3, 1.5f, -0.3333333f, -1.6666667f}},
      {true, {1, 2, 3, 1, 2, 4, true, 0, 1.5}, {1, 1.6666667f, 2.6666667f, 4, 3, 1, -0.6666667f, -2}},
      {false, {1, 2, 3, 1, 1, 2, false, 0.7, 0.7}, {1, 2}},
      // nearest-exact: 3 to 5 takes 0.3, 0.9, 1.5, 2.1, 2.7; 3 to 2 takes 0.75 and 2.25; 2 to 1 takes 1.
      {false, {1, 2, 3, 1, 3, 5, false, 0, 0, true}, {1, 1, 2, 4, 4, 3, 3, 0, -2, -2, 3, 3, 0, -2, -2}},
      {false, {1, 2, 3, 1, 1, 2, false, 0, 0, true}, {3, -2}},
      {false, {1, 2, 3, 1, 2, 4, false, 0, 1.5, true}, {1, 2, 2, 4, 3, 0, 0, -2}},
      {true, {1, 2, 3, 1, 1, 2, false, 0.7, 0.7}, {1.4591837f, 2.3061224f}},
  };
  const Buffer<float> x({1.0f, 2.0f, 4.0f, 3.0f, 0.0f, -2.0f});
  for (const Backend* row : rows_with(&Kernels<float>::upsample_nearest2d_forward)) {
    for (const Case& c : cases) {
      INFO(row->name << ", " << c.bilinear << " to " << c.shape.oh << "x" << c.shape.ow << c.shape.align_corners);
      Context context(*row);
      Buffer<float> y(y_count(c.shape));
      kernels_of(row->f32, c.bilinear).forward(context, c.shape, x.get(), y.get());
      check_values<float>(y, c.y);
    }
  }
}

TEST_CASE("upsample: gradients by hand", "[upsample]") {
  struct Case {
    bool bilinear, align_corners;
    std::vector<float> dx;
  };
  const std::vector<Case> cases{
      {false, false, {14, 10, 12, 19, 11, 12}},
      {true, false, {5.375f, 7.1875f, 10.4375f, 16.375f, 17.1875f, 21.4375f}},
      {true, true, {5.1666667f, 7.6666667f, 10.1666667f, 15.8333333f, 18.3333333f, 20.8333333f}}};
  Buffer<float> dy(12);
  for (int i = 0; i < 12; ++i) dy[i] = static_cast<float>(i + 1);
  for (const Backend* row : rows_with(&Kernels<float>::upsample_nearest2d_forward)) {
    for (const Case& c : cases) {
      INFO(row->name << ", " << c.bilinear << c.align_corners);
      Context context(*row);
      Buffer<float> dx(6);
      kernels_of(row->f32, c.bilinear).backward(context, {1, 2, 3, 1, 3, 4, c.align_corners}, dy.get(), dx.get());
      check_values<float>(dx, c.dx);
    }
  }
}

TEST_CASE("upsample: every row against the reference", "[upsample]") {
  for (ResizeShape p : shapes()) {
    for (const int kind : {0, 1, 2}) {
      const bool bilinear = kind > 0;
      p.align_corners = kind > 1;
      const auto x = Buffer<float>::random(x_count(p), 1), dy = Buffer<float>::random(y_count(p), 2);
      Context reference(reference_row());
      const Pair<double> exact = kernels_of(reference_row().f64, bilinear);
      Buffer<double> y64(y_count(p)), y_scale(y_count(p)), dx64(x_count(p)), dx_scale(x_count(p));
      exact.forward(reference, p, convert<double>(x).get(), y64.get());
      exact.forward(reference, p, convert<double>(absolute(x)).get(), y_scale.get());
      exact.backward(reference, p, convert<double>(dy).get(), dx64.get());
      exact.backward(reference, p, convert<double>(absolute(dy)).get(), dx_scale.get());
      const double sums = std::max(1.0, 4.0 * p.oh / p.h * p.ow / p.w);  // about so many results take from a pixel
      for (const Backend* row : rows_with(&Kernels<float>::upsample_nearest2d_forward)) {
        INFO(row->name << ", kind " << kind << ", " << p.n << "x" << p.h << "x" << p.w << "x" << p.c << " to " << p.oh
                       << "x" << p.ow);
        Context context(*row);
        const Pair<float> k = kernels_of(row->f32, bilinear);
        Buffer<float> y(y_count(p)), dx(x_count(p));
        k.forward(context, p, x.get(), y.get());
        check_close(y, y64, y_scale, 4);
        k.backward(context, p, dy.get(), dx.get());
        check_close(dx, dx64, dx_scale, sums);
      }
    }
  }
}

TEST_CASE("upsample: the pixel that many thousands take", "[upsample]") {
  const ResizeShape p{1, 1, 1, 1, 4097, 4097};
  const Buffer<float> dy(y_count(p), 1.0f);
  for (const Backend* row : rows_with(&Kernels<float>::upsample_nearest2d_backward)) {
    INFO(row->name);
    if (row->name == "reference") continue;  // sums in float
    Context context(*row);
    Buffer<float> dx(1);
    row->f32.upsample_nearest2d_backward(context, p, dy.get(), dx.get());
    check_values<float>(dx, {16785409.0f});
  }
}

TEST_CASE("upsample: threads, and results larger than the caches", "[upsample]") {
  const ResizeShape p{2, 33, 31, 37, 50, 71}, one{1, 240, 200, 48, 480, 400};
  ResizeShape large = one;
  while (!cpu::worth_streaming(nullptr, y_count(large))) ++large.n;
  const auto x = Buffer<float>::random(x_count(p), 1), dy = Buffer<float>::random(y_count(p), 2);
  for (const Backend* row : cpu_rows()) {
    for (const bool bilinear : {false, true}) {
      INFO(row->name << ", " << bilinear);
      const Pair<float> k = kernels_of(row->f32, bilinear);
      check_same_bits(*row, y_count(p), [&](Context& context, float* y) { k.forward(context, p, x.get(), y); });
      check_same_bits(*row, x_count(p), [&](Context& context, float* dx) { k.backward(context, p, dy.get(), dx); });
      // Columns that rise by the same step, and so do their blends.
      Context context(*row);
      const Aligned from(*row, x_count(large)), to(*row, y_count(large));
      for (int64_t i = 0; i < x_count(large); ++i) from.get()[i] = static_cast<float>(i / 48 % 200);
      k.forward(context, large, from.get(), to.get());
      CHECK(to.first_other_than([&](int64_t i) {
        const auto column = static_cast<float>(i / 48 % 400);
        if (!bilinear) return std::floor(column / 2);
        return std::clamp(column / 2 - 0.25f, 0.0f, 199.0f);
      }) == -1);
    }
  }
}

TEST_CASE("upsample: gradients of the reference by central differences", "[upsample]") {
  Context context(reference_row());
  for (ResizeShape p :
       {ResizeShape{2, 3, 4, 2, 5, 6}, ResizeShape{1, 5, 4, 2, 2, 3}, ResizeShape{1, 5, 7, 2, 6, 4, false, 1.3, 0.6}}) {
    for (const int kind : {0, 1, 2}) {
      p.align_corners = kind > 1;
      const Pair<double> k = kernels_of(reference_row().f64, kind > 0);
      const auto x = Buffer<double>::random(x_count(p), 1), dy = Buffer<double>::random(y_count(p), 2);
      Buffer<double> dx(x_count(p));
      k.backward(context, p, dy.get(), dx.get());
      check_gradient(
          dx, central_differences(x, dy, [&](const double* moved, double* y) { k.forward(context, p, moved, y); }));
    }
  }
}

}  // namespace
}  // namespace dnn::test
