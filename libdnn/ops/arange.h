#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// start, start + step, ... before `end`, a vector: int64 where all three are whole numbers, else float32, unless a type
// is given.
Tensor arange(double start, double end, double step = 1);
Tensor arange(double start, double end, double step, DType dtype, const Device& device = default_device());
inline Tensor arange(int end) { return arange(0, end, 1); }

}  // namespace dnn
