#include <libdnn/ops/strided.h>

#include <fmt/format.h>

#include <algorithm>

#include <libdnn/core/dispatch.h>
#include <libdnn/core/tensor_impl.h>

namespace dnn {

Strides dense_strides(const Shape& shape) {
  Strides strides{};
  int64_t step = 1;
  for (int dim = shape.dims() - 1; dim >= 0; --dim) {
    strides[dim] = step;
    step *= shape[dim];
  }
  return strides;
}

StridedShape strided_shape(const Shape& size, const Strides& x_stride, const Strides& y_stride) {
  StridedShape shape{.dims = size.dims(), .size = {}, .x_stride = x_stride, .y_stride = y_stride};
  std::copy(size.begin(), size.end(), shape.size.begin());
  return shape;
}

StridedShape reversed(const StridedShape& shape) { return {shape.dims, shape.size, shape.y_stride, shape.x_stride}; }

Tensor in_shape(const Tensor& x, const Shape& shape) {
  const Tensor y = x.detach();
  y.impl()->shape = shape;
  return y;
}

void copy_strided(const char* op, const StridedShape& shape, const Tensor& x, int64_t x_offset, const Tensor& y,
                  int64_t y_offset) {
  if (x.dtype() != y.dtype()) {
    throw Error(
        fmt::format("[{}] operands must have one dtype; got {} and {}", op, name_of(x.dtype()), name_of(y.dtype())));
  }
  const int element = size_of(x.dtype());
  const auto at = [&](const Tensor& t, int64_t offset) -> char* {
    char* const data = static_cast<char*>(t.raw_data());
    return data ? data + offset * element : nullptr;  // null on a device without memory
  };
  run_raw_kernel(op, {&x, &y}, [&](const RawKernels& k, Context& context) {
    k.copy_strided(context, shape, element, at(x, x_offset), at(y, y_offset));
  });
}

Shape with_size(const Shape& shape, int dim, int size) {
  std::array<int, kMaxDims> sizes{};
  std::copy(shape.begin(), shape.end(), sizes.begin());
  sizes[static_cast<size_t>(shape.normalize(dim))] = size;
  return Shape(sizes.data(), shape.dims());
}

Shape with_dim(const Shape& shape, int dim, int size) {
  std::vector<int> sizes(shape.begin(), shape.end());
  sizes.insert(sizes.begin() + dim, size);
  return Shape(sizes);
}

Shape without_dim(const Shape& shape, int dim) {
  std::vector<int> sizes(shape.begin(), shape.end());
  sizes.erase(sizes.begin() + shape.normalize(dim));
  return Shape(sizes);
}

}  // namespace dnn
