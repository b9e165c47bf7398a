#pragma once
#include <algorithm>

#include <kernels/backend.h>

// Pictures brought to another size as torch.nn.Upsample does. Nearest: cell i of `out` takes cell floor(i * in / out)
// of `in`. Bilinear: it lies at (i + 0.5) * in / out - 0.5, where pixels are squares and the outer edges stay, or at i
// * (in - 1) / (out - 1) with align_corners, where the outer pixels' centres stay; never outside the picture. Its value
// is that of the two cells next to it in each direction, weighed by nearness. A `scale` other than 0 stands for out /
// in but with align_corners: out is then in * scale, rounded down.
namespace dnn::reference {

inline int nearest_source(int64_t i, int64_t in, int64_t out, double scale) {
  if (scale == 0) return static_cast<int>(i * in / out);
  return static_cast<int>(std::min(static_cast<double>(i) / scale, static_cast<double>(in - 1)));
}

struct BilinearSource {
  int first, second;  // the same cell at the edge
  double weight;      // of the second; the first has the rest
};

inline BilinearSource bilinear_source(int i, int in, int out, double scale, bool align_corners) {
  double at = 0;
  if (align_corners) {
    if (out > 1) at = static_cast<double>(i) * (in - 1) / (out - 1);
  } else {
    const double centre = scale == 0 ? (i + 0.5) * in / out : (i + 0.5) / scale;
    at = std::min(std::max(centre - 0.5, 0.0), static_cast<double>(in));
  }
  const int first = std::min(static_cast<int>(at), in - 1);
  return {first, std::min(first + 1, in - 1), std::min(at - first, 1.0)};
}

// f(y pixel, x pixel, weight) for every pair that has one, in the order of the results.
template <class F>
void for_each_nearest(const ResizeShape& shape, F&& f) {
  int64_t to = 0;
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int oy = 0; oy < shape.oh; ++oy) {
      const int64_t row = n * shape.h + nearest_source(oy, shape.h, shape.oh, shape.scale_h);
      for (int ox = 0; ox < shape.ow; ++ox) {
        f(to++, row * shape.w + nearest_source(ox, shape.w, shape.ow, shape.scale_w), 1.0);
      }
    }
  }
}

template <class F>
void for_each_bilinear(const ResizeShape& shape, F&& f) {
  int64_t to = 0;
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int oy = 0; oy < shape.oh; ++oy) {
      const BilinearSource rows = bilinear_source(oy, shape.h, shape.oh, shape.scale_h, shape.align_corners);
      for (int ox = 0; ox < shape.ow; ++ox, ++to) {
        const BilinearSource columns = bilinear_source(ox, shape.w, shape.ow, shape.scale_w, shape.align_corners);
        const int64_t upper = (n * shape.h + rows.first) * shape.w, lower = (n * shape.h + rows.second) * shape.w;
        f(to, upper + columns.first, (1 - rows.weight) * (1 - columns.weight));
        f(to, upper + columns.second, (1 - rows.weight) * columns.weight);
        f(to, lower + columns.first, rows.weight * (1 - columns.weight));
        f(to, lower + columns.second, rows.weight * columns.weight);
      }
    }
  }
}

// to[b] += weight * from[a], for all channels.
template <class T>
void add_pixel(int channels, double weight, const T* from, int64_t a, T* to, int64_t b) {
  for (int c = 0; c < channels; ++c) to[b * channels + c] += static_cast<T>(weight * from[a * channels + c]);
}

template <class T>
void upsample_nearest2d_forward(Context&, const ResizeShape& shape, const T* x, T* y) {
  for_each_nearest(
      shape, [&](int64_t to, int64_t from, double) { std::copy_n(x + from * shape.c, shape.c, y + to * shape.c); });
}

template <class T>
void upsample_nearest2d_backward(Context&, const ResizeShape& shape, const T* dy, T* dx) {
  std::fill_n(dx, shape.x_pixels() * shape.c, T{0});
  for_each_nearest(shape, [&](int64_t to, int64_t from, double weight) {  //
    add_pixel(shape.c, weight, dy, to, dx, from);
  });
}

template <class T>
void upsample_bilinear2d_forward(Context&, const ResizeShape& shape, const T* x, T* y) {
  std::fill_n(y, shape.y_pixels() * shape.c, T{0});
  for_each_bilinear(shape, [&](int64_t to, int64_t from, double weight) {  //
    add_pixel(shape.c, weight, x, from, y, to);
  });
}

template <class T>
void upsample_bilinear2d_backward(Context&, const ResizeShape& shape, const T* dy, T* dx) {
  std::fill_n(dx, shape.x_pixels() * shape.c, T{0});
  for_each_bilinear(shape, [&](int64_t to, int64_t from, double weight) {  //
    add_pixel(shape.c, weight, dy, to, dx, from);
  });
}

}  // namespace dnn::reference
