#pragma once
#include <libdnn/ops/conv2d.h>

namespace dnn {

// A convolution's weight in the layout that one device computes from, so that a net that runs many times has its
// weights rearranged (and for Winograd's method transformed) once. It can't be trained, moved or written to a file.
struct PackedConv2dWeight {
  Shape shape;  // of the weight, (K, R, S, C / groups)
  Conv2dPacking packing;
  Tensor values;  // on the device whose layout it is
};

// The layout is the best for x of the given shape (N, H, W, C), and right for pictures of any number and size.
PackedConv2dWeight pack_conv2d_weight(const Tensor& w, const Shape& x, const Conv2dOptions& options = {});

// conv2d with such a weight; options as it was packed with, but for the activation. Error where a gradient is wanted.
Tensor conv2d(const Tensor& x, const PackedConv2dWeight& w, const Tensor& bias, const Conv2dOptions& options = {},
              const Tensor& residual = Tensor());

}  // namespace dnn
