#pragma once
#include <kernels/context.h>
#include <kernels/shapes.h>

namespace dnn::cpu {

// The kernel `sum` with a scale that a float would round: the mean of many equal values is that value.
void scaled_sum(Context& context, const ReduceShape& shape, double scale, const float* x, float* y);

}  // namespace dnn::cpu
