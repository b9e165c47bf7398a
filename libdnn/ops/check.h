#pragma once
#include <array>

#include <libdnn/core/tensor.h>

namespace dnn {

// What operations check of their operands, with the messages
//   [linear] x must have 2 dimensions; got (3, 4, 4, 8)
//   [linear] bias must be (10); got (12)

void check_dims(const char* op, const char* operand, const Shape& shape, int dims);
void check_dims(const char* op, const char* operand, const Tensor& t, int dims);
void check_shape(const char* op, const char* operand, const Tensor& t, const Shape& expected);

// The last dimension as columns, all others as rows: for what works along the last dimension.
RowsShape last_dim_rows(const char* op, const Tensor& x);

// What goes for packed weights: their count of values as a size, and no gradient wanted by an operand of theirs.
int packed_size(const char* op, const Tensor& w, int64_t count);
void check_no_grad(const char* op, const TensorList& operands);

// The channels of a convolution's weight.
void check_channels(const char* op, int in, int out, int groups);

// Pictures x (N, H, W, C) brought to another height and width.
ResizeShape resize_shape(const char* op, const Tensor& x, std::array<int, 2> size);

}  // namespace dnn
