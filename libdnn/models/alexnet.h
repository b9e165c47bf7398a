#pragma once
#include <libdnn/layers/layers.h>

namespace dnn {

// AlexNet as torchvision has it, "One weird trick for parallelizing
// convolutional neural networks" (Krizhevsky, arXiv 1404.5997): pictures (N,
// 224, 224, 3).
Sequential alexnet(int classes = 1000);

// AlexNet as Caffe has it, "ImageNet classification with deep convolutional
// neural networks" (Krizhevsky, Sutskever and Hinton, NeurIPS 2012): local
// response normalisation, convolutions in two groups; pictures (N, 227, 227,
// 3).
Sequential caffe_alexnet(int classes = 1000);

}  // namespace dnn
