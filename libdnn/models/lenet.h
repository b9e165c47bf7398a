#pragma once
#include <libdnn/layers/sequential.h>

namespace dnn {

// LeNet as in Caffe's MNIST example, for (N, 28, 28, 1), with Caffe's names of layers.
Sequential lenet(int classes = 10);

}  // namespace dnn
