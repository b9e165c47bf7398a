#pragma once
#include <libdnn/layers/layers.h>

namespace dnn {

// "Deep residual learning for image recognition" (He et al., CVPR 2016) as
// torchvision has it, the stride of a bottleneck in its 3x3 convolution:
// pictures (N, 224, 224, 3).
Sequential resnet18(int classes = 1000);
Sequential resnet34(int classes = 1000);
Sequential resnet50(int classes = 1000);
Sequential resnet101(int classes = 1000);
Sequential resnet152(int classes = 1000);

// The paper's net of 20 layers for CIFAR-10, pictures (N, 32, 32, 3). Shortcuts
// have no weights: where the size changes they take every second pixel and add
// channels of zeros (option A).
Sequential resnet20(int classes = 10);

}  // namespace dnn
