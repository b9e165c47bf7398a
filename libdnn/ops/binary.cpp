#include <libdnn/ops/binary.h>

#include <fmt/format.h>

#include <algorithm>

#include <libdnn/core/dispatch.h>

namespace dnn {

std::optional<Shape> common_shape(const Shape& a, const Shape& b) {
  if (a == b) return a;
  const int dims = std::max(a.dims(), b.dims());
  std::array<int, kMaxDims> sizes{};
  for (int i = 1; i <= dims; ++i) {  // from the last dimension
    const int a_size = i <= a.dims() ? a[-i] : 1, b_size = i <= b.dims() ? b[-i] : 1;
    if (a_size != b_size && a_size != 1 && b_size != 1) return std::nullopt;
    sizes[static_cast<size_t>(dims - i)] = a_size == 1 ? b_size : a_size;
  }
  return Shape(sizes.data(), dims);
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  const std::optional<Shape> shape = common_shape(a, b);
  if (!shape) throw Error(fmt::format("[{}] sizes must be equal or 1; got {} and {}", op, a.str(), b.str()));
  return *shape;
}

Tensor binary(const char* op, BinaryOp kind, const Tensor& a, const Tensor& b) {
  Tensor y(broadcast_shapes(op, a.shape(), b.shape()), a.dtype(), a.device());
  run_kernel(op, {&a, &b}, [&]<class T>(const Kernels<T>& k, Context& context) {
    const BroadcastShape shape = BroadcastShape::of(a.shape().begin(), a.dims(), b.shape().begin(), b.dims());
    k.binary(context, kind, shape, a.data<T>(), b.data<T>(), y.data<T>());
  });
  return y;
}

}  // namespace dnn
