#pragma once
#include <cstdint>

#include <kernels/context.h>
#include <kernels/unary.h>

// The loops of the unary functions, in two sources: activations and the rest.
namespace dnn::cpu {

// `stream`: see worth_streaming(). Whole vectors of y and dx are then aligned.
using UnaryForwardLoop = void (*)(const UnaryParams&, bool stream, int64_t count, const float* x, float* y);
using UnaryBackwardLoop = void (*)(const UnaryParams&, bool stream, int64_t count, const float* saved, const float* dy,
                                   float* dx);

UnaryForwardLoop activation_forward_loop(const Context& context);
UnaryBackwardLoop activation_backward_loop(const Context& context);
UnaryForwardLoop function_forward_loop(const Context& context);
UnaryBackwardLoop function_backward_loop(const Context& context);

}  // namespace dnn::cpu
