#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>

namespace dnn {

// The gradient is rounded to the type of what it is the gradient of.
Tensor Tensor::to(DType to) const {
  if (dtype() == to) return *this;
  Tensor y(shape(), to, device());
  run_raw_kernel("to", {this, &y}, [&](const RawKernels& k, Context& context) {
    k.cast(context, dtype(), to, numel(), raw_data(), y.raw_data());
  });
  if (!is_floating_point(to) || !is_floating_point(dtype())) return y;
  record("to", {*this}, {y}, [from = dtype()](const TensorList& dy) -> TensorList { return {dy[0].to(from)}; });
  return y;
}

}  // namespace dnn
