#pragma once
#include <libdnn/layers/sequential.h>

namespace dnn {

// The small net of the project's beginning, for MNIST's (N, 28, 28, 1), after the first layers of LeNet-5 (LeCun et
// al., Proc. IEEE 1998): a convolution, a subsampling that learns, a dense layer, with sigmoids between.
Sequential mnist_cnn(int classes = 10);

}  // namespace dnn
