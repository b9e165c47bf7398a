#include <libdnn/autograd/tape.h>

namespace dnn {

// Tensor::clone and Tensor::to; the gradient takes the way back.
Tensor Tensor::clone() const {
  Tensor y(shape(), dtype(), device());
  y.copy_from(*this);
  record("clone", {*this}, {y}, [](const TensorList& dy) -> TensorList { return {dy[0]}; });
  return y;
}

Tensor Tensor::to(const Device& to) const {
  if (device() == to) return *this;
  Tensor y(shape(), dtype(), to);
  y.copy_from(*this);
  record("to", {*this}, {y}, [from = device()](const TensorList& dy) -> TensorList { return {dy[0].to(from)}; });
  return y;
}

}  // namespace dnn
