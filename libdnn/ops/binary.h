#pragma once
#include <optional>

#include <kernels/params.h>
#include <libdnn/core/tensor.h>

namespace dnn {

// What the operations on two broadcast operands share.

// The shape of the result, by NumPy's rule; none, or Error, where two sizes differ and neither is 1.
std::optional<Shape> common_shape(const Shape& a, const Shape& b);
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

// y = a op b, not recorded.
Tensor binary(const char* op, BinaryOp kind, const Tensor& a, const Tensor& b);

}  // namespace dnn
