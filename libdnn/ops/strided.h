#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

using Strides = std::array<int64_t, kMaxDims>;

Strides dense_strides(const Shape& shape);  // of a tensor's elements

// The same elements in another shape, not recorded.
Tensor in_shape(const Tensor& x, const Shape& shape);

// Copies elements of x from its offset on to y from its own on, at the strides of the shape; all count elements.
void copy_strided(const char* op, const StridedShape& shape, const Tensor& x, int64_t x_offset, const Tensor& y,
                  int64_t y_offset);

// A copy of `size` elements along each dimension, from the strides given to those of a dense tensor; or the other way
// with the two swapped.
StridedShape strided_shape(const Shape& size, const Strides& x_stride, const Strides& y_stride);
StridedShape reversed(const StridedShape& shape);

// The shape with another size of one dimension, with a dimension of that size before it, or without it. A negative dim
// counts from the last where there is such a dimension.
Shape with_size(const Shape& shape, int dim, int size);
Shape with_dim(const Shape& shape, int dim, int size);
Shape without_dim(const Shape& shape, int dim);

// A gradient of x's shape, not recorded: dy added at the `places` places along a dimension that `index` names for each
// of its elements, 0 elsewhere. gather.cpp has it.
Tensor scatter_along(const char* op, const Shape& x, int dim, int places, const Tensor& index, const Tensor& dy);

}  // namespace dnn
