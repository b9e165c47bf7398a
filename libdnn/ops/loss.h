#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// What operations that end in a scalar loss share. Their kernels give d loss / d x in the forward pass.

enum class Reduction { mean, sum };

// Memory for that where x asks for a gradient, else an undefined tensor.
Tensor loss_grad_or_none(const Tensor& x);

// Records the step from the loss back to x: dx times the upstream gradient. Nothing where dx is undefined.
void record_loss(const char* op, const Tensor& x, const Tensor& loss, const Tensor& dx);

}  // namespace dnn
