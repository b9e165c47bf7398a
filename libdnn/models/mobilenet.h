#pragma once
#include <libdnn/layers/layers.h>

namespace dnn {

// "MobileNetV2: inverted residuals and linear bottlenecks" (Sandler et al.,
// CVPR 2018) and "Searching for MobileNetV3" (Howard et al., ICCV 2019) at
// width 1, as torchvision has them: pictures (N, 224, 224, 3).
Sequential mobilenet_v2(int classes = 1000);
Sequential mobilenet_v3_small(int classes = 1000);
Sequential mobilenet_v3_large(int classes = 1000);

}  // namespace dnn
