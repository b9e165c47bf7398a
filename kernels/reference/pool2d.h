#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include <kernels/backend.h>

// y[n, oy, ox, c] = the largest, or the average, of the window's cells x[n, oy * stride_h - pad_top + r, ox * stride_w
// - pad_left + s, c] that lie in the picture; for the largest r and s are multiplied by the dilation. An average
// divides by the cells in the padded picture where count_include_pad, else by those in the picture; what hangs over the
// padding (ceil_mode) never counts.
namespace dnn::reference {

// Where one output's window lies in its picture; begin and end are cut to the picture.
struct PoolWindow {
  int top, left;  // of the whole window, may be in the padding
  int y_begin, y_end, x_begin, x_end;
  int64_t padded_cells;  // cells in the padded picture
};

inline PoolWindow pool_window(const Pool2dShape& shape, int oy, int ox) {
  PoolWindow window;
  window.top = oy * shape.stride_h - shape.pad_top;
  window.left = ox * shape.stride_w - shape.pad_left;
  window.y_begin = std::max(window.top, 0);
  window.x_begin = std::max(window.left, 0);
  window.y_end = std::min(window.top + shape.r, shape.h);
  window.x_end = std::min(window.left + shape.s, shape.w);
  window.padded_cells = int64_t{1} * (std::min(window.top + shape.r, shape.h + shape.pad_bottom) - window.top) *
                        (std::min(window.left + shape.s, shape.w + shape.pad_right) - window.left);
  return window;
}

// f(n, window, y pixel) for every window, in order.
template <class F>
void for_each_window(const Pool2dShape& shape, F&& f) {
  const int oh = shape.oh(), ow = shape.ow();
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int oy = 0; oy < oh; ++oy) {
      for (int ox = 0; ox < ow; ++ox) f(n, pool_window(shape, oy, ox), (n * oh + oy) * ow + ox);
    }
  }
}

template <class T>
void clear_channels(const Pool2dShape& shape, T* dx) {
  for (int64_t pixel = 0; pixel < shape.x_pixels(); ++pixel) {
    std::fill_n(dx + pixel * shape.x_pitch(), shape.c, T{0});
  }
}

// The offset of channel c in the picture's pixel (y, x).
inline int64_t pool_offset(const Pool2dShape& shape, int64_t n, int y, int x, int c) {
  return ((n * shape.h + y) * shape.w + x) * shape.x_pitch() + c;
}

template <class T>
void max_pool2d_forward(Context&, const Pool2dShape& shape, const T* x, T* y, void* index_or_null) {
  for_each_window(shape, [&](int64_t n, const PoolWindow& window, int64_t pixel) {
    for (int c = 0; c < shape.c; ++c) {
      T largest = -std::numeric_limits<T>::infinity();
      int cell = 0;
      bool found = false;
      for (int at = 0; at < shape.r * shape.s; ++at) {
        const int64_t iy = window.top + int64_t{at / shape.s} * shape.dilation_h;
        const int64_t ix = window.left + int64_t{at % shape.s} * shape.dilation_w;
        if (iy < 0 || iy >= shape.h || ix < 0 || ix >= shape.w) continue;
        const T value = x[pool_offset(shape, n, static_cast<int>(iy), static_cast<int>(ix), c)];
        if (found && (std::isnan(largest) || !(value > largest || std::isnan(value)))) continue;
        largest = value;
        cell = at;
        found = true;
      }
      y[pixel * shape.y_pitch() + c] = largest;
      if (!index_or_null) continue;
      if (shape.byte_index()) {
        static_cast<uint8_t*>(index_or_null)[pixel * shape.c + c] = static_cast<uint8_t>(cell);
      } else {
        static_cast<int32_t*>(index_or_null)[pixel * shape.c + c] = cell;
      }
    }
  });
}

// dx = sum of the dy of the windows whose largest cell it is.
template <class T>
void max_pool2d_backward(Context&, const Pool2dShape& shape, const T* dy, const void* index, T* dx) {
  clear_channels(shape, dx);
  for_each_window(shape, [&](int64_t n, const PoolWindow& window, int64_t pixel) {
    for (int c = 0; c < shape.c; ++c) {
      const int64_t at = pixel * shape.c + c;
      const int cell =
          shape.byte_index() ? static_cast<const uint8_t*>(index)[at] : static_cast<const int32_t*>(index)[at];
      const int iy = window.top + cell / shape.s * shape.dilation_h,
                ix = window.left + cell % shape.s * shape.dilation_w;
      if (iy < 0 || iy >= shape.h || ix < 0 || ix >= shape.w) continue;  // no cell in the picture
      dx[pool_offset(shape, n, iy, ix, c)] += dy[pixel * shape.y_pitch() + c];
    }
  });
}

inline int64_t pool_divisor(const Pool2dShape& shape, const PoolWindow& window) {
  if (shape.count_include_pad) return window.padded_cells;
  return int64_t{1} * (window.y_end - window.y_begin) * (window.x_end - window.x_begin);
}

template <class T>
void avg_pool2d_forward(Context&, const Pool2dShape& shape, const T* x, T* y) {
  for_each_window(shape, [&](int64_t n, const PoolWindow& window, int64_t pixel) {
    for (int c = 0; c < shape.c; ++c) {
      double sum = 0;
      for (int iy = window.y_begin; iy < window.y_end; ++iy) {
        for (int ix = window.x_begin; ix < window.x_end; ++ix) sum += x[pool_offset(shape, n, iy, ix, c)];
      }
      y[pixel * shape.y_pitch() + c] = static_cast<T>(sum / pool_divisor(shape, window));
    }
  });
}

template <class T>
void avg_pool2d_backward(Context&, const Pool2dShape& shape, const T* dy, T* dx) {
  clear_channels(shape, dx);
  for_each_window(shape, [&](int64_t n, const PoolWindow& window, int64_t pixel) {
    const double divisor = static_cast<double>(pool_divisor(shape, window));
    for (int c = 0; c < shape.c; ++c) {
      const T share = static_cast<T>(dy[pixel * shape.y_pitch() + c] / divisor);
      for (int iy = window.y_begin; iy < window.y_end; ++iy) {
        for (int ix = window.x_begin; ix < window.x_end; ++ix) dx[pool_offset(shape, n, iy, ix, c)] += share;
      }
    }
  });
}

}  // namespace dnn::reference
