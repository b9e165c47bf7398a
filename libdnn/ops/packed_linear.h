#pragma once
#include <libdnn/ops/linear.h>

namespace dnn {

// A dense layer's weight in the layout that one device computes from; see packed_conv2d.h.
struct PackedLinearWeight {
  Shape shape;    // of the weight, (out, in)
  Tensor values;  // on the device whose layout it is
};

PackedLinearWeight pack_linear_weight(const Tensor& w);

// linear with such a weight. Error where a gradient is wanted.
Tensor linear(const Tensor& x, const PackedLinearWeight& w, const Tensor& bias,
              Activation activation = Activation::none, const Tensor& residual = Tensor());

}  // namespace dnn
