#pragma once
#include <libdnn/layers/layers.h>

namespace dnn {

// "Very deep convolutional networks for large-scale image recognition"
// (Simonyan and Zisserman, ICLR 2015), configurations A, B, D and E, as
// torchvision has them: pictures (N, 224, 224, 3). The nets with _bn have a
// batch norm behind each convolution.
Sequential vgg11(int classes = 1000);
Sequential vgg13(int classes = 1000);
Sequential vgg16(int classes = 1000);
Sequential vgg19(int classes = 1000);
Sequential vgg11_bn(int classes = 1000);
Sequential vgg13_bn(int classes = 1000);
Sequential vgg16_bn(int classes = 1000);
Sequential vgg19_bn(int classes = 1000);

}  // namespace dnn
