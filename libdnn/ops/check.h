#pragma once
#include <array>
#include <string>

#include <kernels/epilogue.h>
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

// For what works along `dim`, where negative counted from the last; Error where it has no values.
AxisShape axis_with_values(const char* op, const Tensor& x, int dim);

// What goes for packed weights: their count of values as a size, and no gradient wanted by an operand of theirs.
int packed_size(const char* op, const Tensor& w, int64_t count);
void check_no_grad(const char* op, const TensorList& operands);

// "; x looks like (N, C, H, W), ..." where the channels of x are not in its last dimension but would be in its second;
// else "".
std::string layout_hint(const Shape& x, int channels);

// The channels of a convolution's weight.
void check_channels(const char* op, int in, int out, int groups);

// Pairs are height and width, the padding is top, left, bottom, right: the arguments of a layer, before it has an
// input.
void check_at_least(const char* op, const char* name, std::array<int, 2> got, int least);
void check_padding(const char* op, std::array<int, 4> padding);
void check_output_padding(const char* op, std::array<int, 2> output_padding, std::array<int, 2> stride,
                          std::array<int, 2> dilation);

// Those of a batch norm: eps from 0 on, momentum from 0 to 1.
void check_batch_norm(double eps, double momentum);

// A number that has no other bounds.
void check_finite(const char* op, const char* name, double value);

// The alpha of leaky_relu (negative_slope), elu or softplus (beta): finite, and not 0 for softplus.
void check_alpha(UnaryOp op, double alpha);

void check_hardtanh(double min, double max);  // min below max

// What an operation is told to apply to its result: an activation, with parameters that it takes.
void check_activation(const char* op, const Activation& activation);

// Pictures x (N, H, W, C) brought to another height and width.
ResizeShape resize_shape(const char* op, const Tensor& x, std::array<int, 2> size);

}  // namespace dnn
