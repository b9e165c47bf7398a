#pragma once
#include <kernels/epilogue.h>
#include <libdnn/core/tensor.h>

namespace dnn {

// Whether an operation can apply the activation in its own pass: where a gradient is wanted its slope must follow from
// the result. Error for parameters that it doesn't take.
bool can_fuse(const char* op, const Activation& activation, bool gradient_wanted);

struct EpilogueGrads {
  Tensor dz;     // of the result before its activation; dy itself where there is no activation
  Tensor dbias;  // undefined where it isn't wanted
};

// The way back through y = activation(z), z = result + bias + residual, in one pass: the last dimension has the bias.
// y may be undefined where there is no activation.
EpilogueGrads epilogue_backward(const char* op, const Activation& activation, const Tensor& y, const Tensor& dy,
                                bool want_dbias);

}  // namespace dnn
