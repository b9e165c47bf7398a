#pragma once
#include <memory>

#include <libdnn/layers/module.h>

namespace dnn {

// A copy of the net for inference alone, in eval() mode, on the net's device and to stay there. Each batch norm that
// only ever follows one convolution is folded into that convolution's weight and bias, w' = w * g / sqrt(var + eps), b'
// = (b - mean) * g / sqrt(var + eps) + beta; convolutions and dense layers keep their weights in the layout that the
// device computes from (layers/packed_conv2d.h). Which modules follow each other, and for which sizes the layout is the
// best, is seen by running the example: an input such as the net will have. It takes any size afterwards, as long as
// the same modules follow each other then. Results differ from the net's by rounding. The copy wants no gradients, and
// files of weights are neither read into it nor written from it.
std::shared_ptr<Module> optimize_for_inference(const Module& net, const Tensor& example);

}  // namespace dnn
