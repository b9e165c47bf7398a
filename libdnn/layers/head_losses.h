#pragma once
#include <vector>

#include <libdnn/layers/module.h>

namespace dnn {

// What training a classifier minimizes for one batch: the sum of its heads' losses, each the mean cross entropy over
// the batch times the head's weight. Nets without auxiliary classifiers, and all nets in eval() mode, have one head.
struct HeadLosses {
  Tensor scores;                // (N, classes) of the main head
  TensorList losses;            // of each head, the main one first
  std::vector<double> weights;  // of the losses in the total
  Tensor total;
};

// Labels (N), int32. Calls net.heads(x).
HeadLosses head_losses(Module& net, const Tensor& x, const Tensor& labels);

}  // namespace dnn
