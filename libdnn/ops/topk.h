#pragma once
#include <libdnn/ops/max.h>

namespace dnn {

// The k largest values along a dimension, or the smallest, the best first, and their places, int32. Of equals the first
// comes first; a NaN counts as larger than all.
ValuesAndIndices topk(const Tensor& x, int k, int dim = -1, bool largest = true);

}  // namespace dnn
