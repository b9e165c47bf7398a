#pragma once
#include <libdnn/ops/loss.h>

namespace dnn {

struct CrossEntropyOptions {
  int ignore_label = -100;
  double label_smoothing = 0;  // in [0, 1]: the target is 1 - that for the label, and that / classes for every class
  Tensor class_weights = {};   // (classes): of each class's term, and of its samples in the mean
  Reduction reduction = Reduction::mean;
};

// The mean, or the sum, over the samples of -log softmax(logits)[label], a scalar: logits (N, ..., classes),
// labels int32 or int64 (N, ...), one for each sample or for each pixel (N, H, W). Samples whose label is ignore_label
// count neither in the sum nor in the number; where none is left, the loss is 0. Any other label outside 0..classes - 1
// throws Error.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {});

struct NllLossOptions {
  int ignore_label = -100;
  Tensor class_weights = {};  // as above
  Reduction reduction = Reduction::mean;
};

// The same from log probabilities, as log_softmax gives them.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& labels, const NllLossOptions& options = {});

}  // namespace dnn
