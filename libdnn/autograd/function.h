#pragma once
#include <libdnn/autograd/tape.h>

namespace dnn {

// What a custom function's forward leaves for its backward.
class FunctionContext {
 public:
  explicit FunctionContext(const TensorList& inputs);

  void save(const TensorList& tensors);  // inputs or results
  const TensorList& saved() const { return saved_; }

  // Whether the gradient of input i is used: backward may return Tensor() where it is not.
  bool needs_grad(size_t i) const { return needs_grad_[i]; }

 private:
  TensorList saved_;
  std::vector<bool> needs_grad_;
};

namespace detail {
TensorList apply_function(const char* name, const TensorList& inputs,
                          TensorList (*forward)(FunctionContext&, const TensorList&),
                          TensorList (*backward)(FunctionContext&, const TensorList&));
}

// A function of one's own, with its gradient:
//   struct Square {
//     static constexpr const char* kName = "square";
//     static TensorList forward(FunctionContext& context, const TensorList& x) {
//       context.save({x[0]});
//       return {x[0] * x[0]};
//     }
//     static TensorList backward(FunctionContext& context, const TensorList& dy) {
//       return {dy[0] * context.saved()[0] * 2.0};
//     }
//   };
//   Tensor y = apply<Square>({x})[0];
// Both run unrecorded. backward returns one gradient an input, Tensor() for none; with several results, dy[i] is
// undefined where result i was not used.
template <class Function>
TensorList apply(const TensorList& inputs) {
  return detail::apply_function(Function::kName, inputs, Function::forward, Function::backward);
}

}  // namespace dnn
