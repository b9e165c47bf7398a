#pragma once
#include <libdnn/layers/layers.h>

namespace dnn {

// "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and < 0.5 MB
// model size" (Iandola et al., arXiv 1602.07360), as torchvision has it:
// pictures (N, 224, 224, 3). Version 1.1 needs 2.4 times less work than 1.0.
Sequential squeezenet1_0(int classes = 1000);
Sequential squeezenet1_1(int classes = 1000);

}  // namespace dnn
