#pragma once
#include <functional>
#include <initializer_list>

#include <libdnn/core/tensor.h>

namespace dnn {

// The tape. An operation computes its result at once and, where a gradient is wanted, records how to go back:
//   Tensor y(x.shape(), x.dtype(), x.device());
//   ...kernel...
//   record("relu", {x}, {y}, [y = y.detach()](const TensorList& dy) -> TensorList { return {...}; });
// The backward step gets the gradients of the results and returns those of the inputs, in their order. A result that
// nothing used has an undefined gradient where there are several results; an undefined return means no gradient. Save
// inputs as they are and results as y.detach(): a result itself would own the step that owns it. What is saved is freed
// after the step. A step may write its result over dy[i] where nobody else sees that, see over_or_new().
using BackwardStep = std::function<TensorList(const TensorList& dy)>;

void record(const char* name, std::initializer_list<Tensor> inputs, std::initializer_list<Tensor> outputs,
            BackwardStep step);
void record(const char* name, const TensorList& inputs, const TensorList& outputs, BackwardStep step);

// Whether a step on these inputs would be recorded: recording is on and one of them asks for a gradient. Undefined
// tensors ask for none.
bool wants_grad(const Tensor& input);
bool wants_grad(std::initializer_list<Tensor> inputs);
bool wants_grad(const TensorList& inputs);

// Memory for a gradient of dy's shape: dy itself where no other handle sees its elements, else a new tensor.
Tensor over_or_new(const Tensor& dy);

// Within a backward step: whether its gradient is the 1 that backward() starts with. The memory needn't be read for it.
bool gradient_is_one();

// Recording is on unless a NoGrad lives in this thread.
bool grad_enabled();

class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

// Gradients of several results at once, each with its own upstream gradient (undefined: ones, for one element). The
// gradients of all leaves grow by theirs. The graph is used up: a second backward through it throws Error.
void backward(const TensorList& results, const TensorList& grads);

}  // namespace dnn
