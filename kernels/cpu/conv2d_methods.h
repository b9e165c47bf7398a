#pragma once
#include <kernels/backend.h>

// Which method the CPU's rows take for a shape: the same functions that the kernels ask.
namespace dnn::cpu {

// "conv2d_depthwise", "conv2d_winograd" or "conv2d_direct". `packed_once`: for conv2d_forward_packed.
const char* conv2d_forward_route(const Conv2dShape& shape, bool packed_once);
const char* conv2d_backward_input_route(const Conv2dShape& shape);
// "conv2d_depthwise", "pixels", "patches" or "taps".
const char* conv2d_backward_weight_route(const Context& context, const Conv2dShape& shape);

// How conv2d_direct runs the forward pass: "rows", "pixels" or "pointers".
const char* conv2d_direct_structure(const Context& context, const Conv2dShape& shape);

// "windows_apart" or "runs".
const char* shared_conv2d_route(const Conv2dShape& shape);

}  // namespace dnn::cpu
