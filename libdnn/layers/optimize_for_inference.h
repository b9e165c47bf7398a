#pragma once
#include <memory>

#include <libdnn/layers/module.h>

namespace dnn {

// A copy of the net for inference alone, in eval() mode: each batch norm that only ever follows one convolution is
// folded into that convolution's weight and bias, w' = w * g / sqrt(var + eps), b' = (b - mean) * g / sqrt(var + eps)
// + beta. Which modules follow each other is seen by running the example, an input of any size that the net takes.
// Results differ from the net's by rounding.
std::shared_ptr<Module> optimize_for_inference(const Module& net, const Tensor& example);

}  // namespace dnn
