#pragma once
#include <cmath>
#include <limits>

#include <kernels/backend.h>

namespace dnn::reference {

// f(i, offsets of the operands) for every element i of the result, in its order.
template <size_t kOperands, class F>
void for_each_element(int dims, const std::array<int64_t, kMaxDims>& size,
                      const std::array<const int64_t*, kOperands>& stride, F&& f) {
  int64_t count = 1;
  for (int d = 0; d < dims; ++d) count *= size[d];
  for (int64_t i = 0; i < count; ++i) {
    std::array<int64_t, kOperands> offset{};
    int64_t rest = i;
    for (int d = dims - 1; d >= 0; --d) {
      for (size_t j = 0; j < kOperands; ++j) offset[j] += rest % size[d] * stride[j][d];
      rest /= size[d];
    }
    f(i, offset);
  }
}

template <class T>
T binary_value(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::add:
      return a + b;
    case BinaryOp::sub:
      return a - b;
    case BinaryOp::mul:
      return a * b;
    case BinaryOp::div:
      return a / b;
    case BinaryOp::min:
      return std::isnan(a) || a < b ? a : b;
    case BinaryOp::max:
      return std::isnan(a) || a > b ? a : b;
    case BinaryOp::pow:
      return std::pow(a, b);
  }
  return std::numeric_limits<T>::quiet_NaN();
}

template <class T>
bool holds(CompareOp op, T a, T b) {
  switch (op) {
    case CompareOp::eq:
      return a == b;
    case CompareOp::ne:
      return a != b;
    case CompareOp::lt:
      return a < b;
    case CompareOp::le:
      return a <= b;
    case CompareOp::gt:
      return a > b;
    case CompareOp::ge:
      return a >= b;
  }
  return false;
}

template <class T>
void binary(Context&, BinaryOp op, const BroadcastShape& shape, const T* a, const T* b, T* y) {
  for_each_element<2>(shape.dims, shape.size, {shape.a_stride.data(), shape.b_stride.data()},
                      [&](int64_t i, const auto& at) { y[i] = binary_value(op, a[at[0]], b[at[1]]); });
}

template <class T>
void compare(Context&, CompareOp op, const BroadcastShape& shape, const T* a, const T* b, uint8_t* y) {
  for_each_element<2>(shape.dims, shape.size, {shape.a_stride.data(), shape.b_stride.data()},
                      [&](int64_t i, const auto& at) { y[i] = holds(op, a[at[0]], b[at[1]]) ? 1 : 0; });
}

template <class T>
void where(Context&, const TernaryShape& shape, const uint8_t* condition, const T* a, const T* b, T* y) {
  for_each_element<3>(shape.dims, shape.size,
                      {shape.condition_stride.data(), shape.a_stride.data(), shape.b_stride.data()},
                      [&](int64_t i, const auto& at) { y[i] = condition[at[0]] != 0 ? a[at[1]] : b[at[2]]; });
}

}  // namespace dnn::reference
