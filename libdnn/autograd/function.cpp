#include <libdnn/autograd/function.h>

#include <memory>

#include <libdnn/core/tensor_impl.h>

namespace dnn {

FunctionContext::FunctionContext(const TensorList& inputs) {
  for (const Tensor& input : inputs) needs_grad_.push_back(wants_grad({input}));
}

void FunctionContext::save(const TensorList& tensors) {
  for (const Tensor& t : tensors) saved_.push_back(t.defined() ? t.detach() : t);
}

TensorList detail::apply_function(const char* name, const TensorList& inputs,
                                  TensorList (*forward)(FunctionContext&, const TensorList&),
                                  TensorList (*backward)(FunctionContext&, const TensorList&)) {
  const auto context = std::make_shared<FunctionContext>(inputs);
  TensorList outputs;
  {
    const NoGrad no_grad;
    outputs = forward(*context, inputs);
  }
  for (Tensor& output : outputs) {
    // An input handed through would become its own result.
    for (const Tensor& input : inputs) {
      if (output.shared_impl() == input.shared_impl()) {
        output = output.detach();
        break;
      }
    }
  }
  record(name, inputs, outputs, [context, backward](const TensorList& dy) { return backward(*context, dy); });
  return outputs;
}

}  // namespace dnn
