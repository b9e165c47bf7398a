#pragma once
#include <kernels/context.h>
#include <kernels/shapes.h>

namespace dnn::cpu {

// y = scale * the sum of x, of at least one value, over the reduced dimensions.
void sum(Context& context, const ReduceShape& shape, double scale, const float* x, float* y);

}  // namespace dnn::cpu
