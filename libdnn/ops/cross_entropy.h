#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// The mean over the samples of -log softmax(logits)[label], a scalar: logits (N, classes), labels int32 (N). Samples
// whose label is `ignore_label` count neither in the sum nor in the number; where none is left, the loss is 0. Any other
// label outside 0..classes - 1 throws Error.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels, int ignore_label = -100);

}  // namespace dnn
