#pragma once
#include <kernels/backend.h>

// The three kernels of the depthwise convolution with one filter a channel (groups == c == k).
namespace dnn::cpu {

const char* depthwise_refuses(const Conv2dShape& shape);  // the reason, or null

// `packed` holds w_count() values, by depthwise_pack().
void depthwise_pack(const Conv2dShape& shape, const float* w, float* packed);
void depthwise_forward(Context& context, const Conv2dShape& shape, const float* packed, const float* x,
                       const Epilogue<float>& epilogue, float* y);
void depthwise_backward_input(Context& context, const Conv2dShape& shape, const float* dy, const float* w, float* dx);
void depthwise_backward_weight(Context& context, const Conv2dShape& shape, const float* x, const float* dy, float* dw);

}  // namespace dnn::cpu
