#pragma once
#include <cstdint>

#include <kernels/context.h>
#include <kernels/shapes.h>

namespace dnn::reference {

// y[i][j] = pictures[index[i]][j] / divisor: a batch out of a set of pictures that stays in bytes.
template <class T>
void gather_pixels(Context&, const RowsShape& shape, const uint8_t* pictures, const int32_t* index, T divisor, T* y) {
  for (int64_t i = 0; i < shape.rows; ++i) {
    const uint8_t* picture = pictures + (index ? index[i] : i) * shape.cols;
    for (int j = 0; j < shape.cols; ++j) y[i * shape.cols + j] = static_cast<T>(picture[j]) / divisor;
  }
}

}  // namespace dnn::reference
