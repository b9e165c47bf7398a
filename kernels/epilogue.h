#pragma once
#include <kernels/unary.h>

namespace dnn {

// What a kernel does to a result before it is stored: y = activation(result + bias + residual).
template <class T>
struct Epilogue {
  const T* bias = nullptr;      // one value for each output channel (column)
  const T* residual = nullptr;  // laid out as y
  Activation activation = Activation::none;
};

}  // namespace dnn
