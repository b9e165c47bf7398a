#pragma once
#include <kernels/backend.h>

namespace dnn::reference {

// y[n, oy, ox, c] = x[n, oy - top, ox - left, c] where that is in the picture, else `value`.
template <class T>
void pad2d(Context&, const Pad2dShape& shape, T value, const T* x, T* y) {
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int oy = 0; oy < shape.oh(); ++oy) {
      for (int ox = 0; ox < shape.ow(); ++ox) {
        const int iy = oy - shape.top, ix = ox - shape.left;
        const bool inside = iy >= 0 && iy < shape.h && ix >= 0 && ix < shape.w;
        const int64_t from = ((n * shape.h + iy) * shape.w + ix) * shape.c;
        for (int c = 0; c < shape.c; ++c) *y++ = inside ? x[from + c] : value;
      }
    }
  }
}

}  // namespace dnn::reference
