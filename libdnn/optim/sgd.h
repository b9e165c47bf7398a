#pragma once
#include <cstdint>

#include <libdnn/core/named_tensor.h>

namespace dnn {

// Stochastic gradient descent, as torch.optim.SGD: for every parameter w with a gradient
//   g = dw + weight_decay * w;  v = momentum * v + g;  w -= lr * (nesterov ? g + momentum * v : v)
// in one pass over memory. v starts at 0 and is kept only where momentum is not 0. Error for no parameters at all. The
// parameters are those of now: what a module gets later by assignment or replace() is not trained.
class SGD {
 public:
  struct Options {
    double lr = 0.01;
    double momentum = 0;
    double weight_decay = 0;
    bool nesterov = false;
  };

  SGD(const NamedTensors& parameters, const Options& options);  // of module.named_parameters()

  void step();
  void zero_grad();

  double lr() const { return options_.lr; }
  void set_lr(double lr);
  int64_t step_count() const { return step_count_; }

  // What a checkpoint keeps besides lr: the count of steps and v of each parameter that has one, by its name.
  NamedTensors velocities() const;
  void restore(int64_t step_count, const NamedTensors& velocities);  // copies; Error where one doesn't fit

 private:
  struct Slot {
    std::string name;
    Tensor parameter;
    Tensor velocity;  // undefined without momentum, and before the first gradient of a tensor that wanted none
  };

  std::vector<Slot> slots_;
  Options options_;
  int64_t step_count_ = 0;
};

}  // namespace dnn
