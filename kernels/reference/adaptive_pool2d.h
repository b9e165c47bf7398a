#pragma once
#include <algorithm>

#include <kernels/backend.h>
#include <kernels/windows.h>

// y[n, oy, ox, c] = the mean of the cells of window (oy, ox): adaptive_window in each direction.
namespace dnn::reference {

// f(x pixel, y pixel, cells of the window) for every cell of every window, window by window.
template <class F>
void for_each_adaptive_cell(const ResizeShape& shape, F&& f) {
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int oy = 0; oy < shape.oh; ++oy) {
      for (int ox = 0; ox < shape.ow; ++ox) {
        const AdaptiveWindow rows = adaptive_window(oy, shape.h, shape.oh);
        const AdaptiveWindow columns = adaptive_window(ox, shape.w, shape.ow);
        const double cells = static_cast<double>(rows.size()) * columns.size();
        for (int iy = rows.begin; iy < rows.end; ++iy) {
          for (int ix = columns.begin; ix < columns.end; ++ix) {
            f((n * shape.h + iy) * shape.w + ix, (n * shape.oh + oy) * shape.ow + ox, cells);
          }
        }
      }
    }
  }
}

template <class T>
void adaptive_avg_pool2d_forward(Context&, const ResizeShape& shape, const T* x, T* y) {
  for (int c = 0; c < shape.c; ++c) {
    double sum = 0, cells_seen = 0;
    for_each_adaptive_cell(shape, [&](int64_t x_pixel, int64_t y_pixel, double cells) {
      sum += x[x_pixel * shape.c + c];
      if (++cells_seen < cells) return;
      y[y_pixel * shape.c + c] = static_cast<T>(sum / cells);
      sum = cells_seen = 0;
    });
  }
}

template <class T>
void adaptive_avg_pool2d_backward(Context&, const ResizeShape& shape, const T* dy, T* dx) {
  std::fill_n(dx, shape.x_pixels() * shape.c, T{0});
  for_each_adaptive_cell(shape, [&](int64_t x_pixel, int64_t y_pixel, double cells) {
    for (int c = 0; c < shape.c; ++c) {
      dx[x_pixel * shape.c + c] += static_cast<T>(dy[y_pixel * shape.c + c] / cells);
    }
  });
}

}  // namespace dnn::reference
