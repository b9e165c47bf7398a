#pragma once
#include <cstdint>

#include <kernels/backend.h>
#include <kernels/reference/activation.h>

namespace dnn::reference {

// activation(result + bias[column] + residual[at])
template <class T>
T finish(const Epilogue<T>& epilogue, double result, int column, int64_t at) {
  if (epilogue.bias) result += epilogue.bias[column];
  if (epilogue.residual) result += epilogue.residual[at];
  return static_cast<T>(activate(epilogue.activation, result));
}

}  // namespace dnn::reference
