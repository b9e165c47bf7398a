#pragma once
#include <cstdint>

// The parameters of kernels that have more than a few.
namespace dnn {

// g = dw + weight_decay * w; v = momentum * v + g; w -= lr * (nesterov ? g + momentum * v : v). As torch.optim.SGD.
struct SgdParams {
  double lr = 0, momentum = 0, weight_decay = 0;
  bool nesterov = false;
};

enum class BinaryOp { add, sub, mul, div, min, max, pow };
enum class CompareOp { eq, ne, lt, le, gt, ge };
enum class ReduceOp { sum, prod, max, min };
enum class ArgOp { max, min };

struct BatchNormParams {
  double eps = 1e-5;
  double momentum = 0.1;  // running = (1 - momentum) * running + momentum * batch's; the variance unbiased
  bool training = true;
};

struct CrossEntropyParams {
  int32_t ignore_label = -100;
  double label_smoothing = 0;
  bool mean = true;  // over the labels' weights; else the sum
};

// For d = x - target: mse d^2; l1 |d|; smooth_l1 d^2 / (2 beta) where |d| < beta, else |d| - beta / 2;
// bce_with_logits max(x, 0) - x * target + log(1 + exp(-|x|)).
enum class PointwiseLoss { mse, l1, smooth_l1, bce_with_logits };

}  // namespace dnn
