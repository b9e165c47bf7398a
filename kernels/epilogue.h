#pragma once
#include <cstdint>

#include <kernels/unary.h>

namespace dnn {

// What a kernel does to a result before it is stored: y = activation(scale * result + bias + residual).
template <class T>
struct Epilogue {
  const T* bias = nullptr;      // one value for each output channel (column)
  const T* residual = nullptr;  // laid out as y
  Activation activation = Activation::none;
  const T* scale = nullptr;  // one value for each output channel; null: 1

  // That of a part of the result: from column `col` on, and `offset` elements from the result's first one.
  Epilogue part(int64_t col, int64_t offset) const {
    return {bias ? bias + col : nullptr, residual ? residual + offset : nullptr, activation,
            scale ? scale + col : nullptr};
  }
};

}  // namespace dnn
