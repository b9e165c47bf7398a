#pragma once
#include <algorithm>

#include <kernels/backend.h>
#include <kernels/reference/epilogue.h>
#include <kernels/reference/rows.h>

// The convolution of deep learning, a correlation with padding, stride, dilation and groups (Dumoulin and Visin, "A
// guide to convolution arithmetic for deep learning", 2016). With cg = c / groups, kg = k / groups:
//   y[n, oy, ox, f] = activation(sum over r, s, ci of x[n, iy, ix, g * cg + ci] * w[f, r, s, ci] + bias[f] + residual)
//   iy = oy * stride_h - pad_top + r * dilation_h, ix likewise, g = f / kg; cells outside the picture count as 0.
namespace dnn::reference {

template <class T>
void conv2d_forward(Context& context, const Conv2dShape& shape, const T* x, const T* w, const Epilogue<T>& epilogue,
                    T* y) {
  const int oh = shape.oh(), ow = shape.ow();
  const int cg = shape.c / shape.groups, kg = shape.k / shape.groups;
  for_each_row(context, int64_t{shape.n} * oh, int64_t{ow} * shape.k * shape.r * shape.s * cg, [&](int64_t row, int) {
    const int64_t n = row / oh;
    const int oy = static_cast<int>(row % oh);
    for (int ox = 0; ox < ow; ++ox) {
      for (int f = 0; f < shape.k; ++f) {
        double sum = 0;
        for (int r = 0; r < shape.r; ++r) {
          const int iy = oy * shape.stride_h - shape.pad_top + r * shape.dilation_h;
          if (iy < 0 || iy >= shape.h) continue;
          for (int s = 0; s < shape.s; ++s) {
            const int ix = ox * shape.stride_w - shape.pad_left + s * shape.dilation_w;
            if (ix < 0 || ix >= shape.w) continue;
            const T* x_cell = x + ((n * shape.h + iy) * shape.w + ix) * shape.x_pitch() + f / kg * cg;
            const T* w_cell = w + ((int64_t{f} * shape.r + r) * shape.s + s) * cg;
            for (int ci = 0; ci < cg; ++ci) sum += static_cast<double>(x_cell[ci]) * w_cell[ci];
          }
        }
        const int64_t at = (row * ow + ox) * shape.y_pitch() + f;
        y[at] = finish(epilogue, sum, f, at);
      }
    }
  });
}

// The reference computes from w as it is.
template <class T>
Conv2dPacking conv2d_packing(Context&, const Conv2dShape& shape) {
  return {0, shape.w_count()};
}

template <class T>
void conv2d_pack_weight(Context&, const Conv2dShape&, const Conv2dPacking& packing, const T* w, T* packed) {
  std::copy_n(w, packing.count, packed);
}

template <class T>
void conv2d_forward_packed(Context& context, const Conv2dShape& shape, const Conv2dPacking&, const T* x,
                           const T* packed, const Epilogue<T>& epilogue, T* y) {
  conv2d_forward(context, shape, x, packed, epilogue, y);
}

// dx[n, iy, ix, g * cg + ci] = sum over r, s and the group's f of dy[n, oy, ox, f] * w[f, r, s, ci], over the oy, ox
// whose window has (iy, ix) as its cell (r, s).
template <class T>
void conv2d_backward_input(Context& context, const Conv2dShape& shape, const T* dy, const T* w, T* dx) {
  const int oh = shape.oh(), ow = shape.ow();
  const int cg = shape.c / shape.groups, kg = shape.k / shape.groups;
  const int64_t rows = int64_t{shape.n} * shape.h;
  Workspace workspace(context);
  double* sums = workspace.take<double>(int64_t{threads_for(context, rows)} * shape.c);
  for_each_row(context, rows, int64_t{shape.w} * shape.r * shape.s * shape.k * cg, [&](int64_t row, int thread) {
    const int64_t n = row / shape.h;
    const int iy = static_cast<int>(row % shape.h);
    double* sum = sums + int64_t{thread} * shape.c;
    for (int ix = 0; ix < shape.w; ++ix) {
      std::fill(sum, sum + shape.c, 0.0);
      for (int r = 0; r < shape.r; ++r) {
        const int64_t from_top = int64_t{iy} + shape.pad_top - int64_t{r} * shape.dilation_h;
        const int64_t oy = from_top / shape.stride_h;
        if (from_top < 0 || from_top % shape.stride_h != 0 || oy >= oh) continue;
        for (int s = 0; s < shape.s; ++s) {
          const int64_t from_left = int64_t{ix} + shape.pad_left - int64_t{s} * shape.dilation_w;
          const int64_t ox = from_left / shape.stride_w;
          if (from_left < 0 || from_left % shape.stride_w != 0 || ox >= ow) continue;
          const T* dy_cell = dy + ((n * oh + oy) * ow + ox) * shape.y_pitch();
          for (int f = 0; f < shape.k; ++f) {
            const T* w_cell = w + ((int64_t{f} * shape.r + r) * shape.s + s) * cg;
            double* group_sum = sum + int64_t{f / kg} * cg;
            for (int ci = 0; ci < cg; ++ci) group_sum[ci] += static_cast<double>(dy_cell[f]) * w_cell[ci];
          }
        }
      }
      T* dx_cell = dx + (row * shape.w + ix) * shape.x_pitch();
      for (int c = 0; c < shape.c; ++c) dx_cell[c] = static_cast<T>(sum[c]);
    }
  });
}

// dw[f, r, s, ci] = sum over n, oy, ox of dy[n, oy, ox, f] * x[n, iy, ix, g * cg + ci]
template <class T>
void conv2d_backward_weight(Context& context, const Conv2dShape& shape, const T* x, const T* dy, T* dw) {
  const int oh = shape.oh(), ow = shape.ow();
  const int cg = shape.c / shape.groups, kg = shape.k / shape.groups;
  const int64_t cells = int64_t{shape.k} * shape.r * shape.s;
  Workspace workspace(context);
  double* sums = workspace.take<double>(int64_t{threads_for(context, cells)} * cg);
  for_each_row(context, cells, shape.y_pixels() * cg, [&](int64_t cell, int thread) {
    const int s = static_cast<int>(cell % shape.s);
    const int r = static_cast<int>(cell / shape.s % shape.r);
    const int f = static_cast<int>(cell / shape.s / shape.r);
    double* sum = sums + int64_t{thread} * cg;
    std::fill(sum, sum + cg, 0.0);
    for (int64_t n = 0; n < shape.n; ++n) {
      for (int oy = 0; oy < oh; ++oy) {
        const int iy = oy * shape.stride_h - shape.pad_top + r * shape.dilation_h;
        if (iy < 0 || iy >= shape.h) continue;
        for (int ox = 0; ox < ow; ++ox) {
          const int ix = ox * shape.stride_w - shape.pad_left + s * shape.dilation_w;
          if (ix < 0 || ix >= shape.w) continue;
          const double slope = dy[((n * oh + oy) * ow + ox) * shape.y_pitch() + f];
          const T* x_cell = x + ((n * shape.h + iy) * shape.w + ix) * shape.x_pitch() + f / kg * cg;
          for (int ci = 0; ci < cg; ++ci) sum[ci] += slope * x_cell[ci];
        }
      }
    }
    for (int ci = 0; ci < cg; ++ci) dw[cell * cg + ci] = static_cast<T>(sum[ci]);
  });
}

}  // namespace dnn::reference
