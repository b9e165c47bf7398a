#pragma once
#include <algorithm>

#include <kernels/backend.h>
#include <kernels/windows.h>

// Pictures brought to another size as torch.nn.Upsample does: nearest_source and bilinear_source in each direction.
namespace dnn::reference {

// f(y pixel, x pixel, weight) for every pair that has one, in the order of the results.
template <class F>
void for_each_nearest(const ResizeShape& shape, F&& f) {
  int64_t to = 0;
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int oy = 0; oy < shape.oh; ++oy) {
      const int64_t row = n * shape.h + nearest_source(oy, shape.h, shape.oh, shape.scale_h, shape.exact);
      for (int ox = 0; ox < shape.ow; ++ox) {
        f(to++, row * shape.w + nearest_source(ox, shape.w, shape.ow, shape.scale_w, shape.exact), 1.0);
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
