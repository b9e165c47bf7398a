#include <libdnn/ops/activation.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>

namespace dnn {
namespace {

Tensor activation(const char* name, Activation kind, const Tensor& x) {
  const Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel(name, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.activation_forward(context, kind, x.numel(), x.data<T>(), y.data<T>());
  });
  if (!wants_grad({x})) return y;
  record(name, {x}, {y}, [name, kind, y = y.detach()](const TensorList& dy) -> TensorList {
    const Tensor dx = over_or_new(dy[0]);
    run_kernel(name, {&y, &dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.activation_backward(context, kind, y.numel(), y.data<T>(), dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace

Tensor relu(const Tensor& x) { return activation("relu", Activation::relu, x); }
Tensor sigmoid(const Tensor& x) { return activation("sigmoid", Activation::sigmoid, x); }
Tensor tanh(const Tensor& x) { return activation("tanh", Activation::tanh, x); }

}  // namespace dnn
