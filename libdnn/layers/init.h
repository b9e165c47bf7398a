#pragma once
#include <functional>

#include <libdnn/layers/module.h>

namespace dnn {

// PyTorch's default for the weights and biases of convolutions and dense layers: uniform in +-1 / sqrt(fan_in), where
// fan_in is how many products make up a result. ("Kaiming uniform", He et al., ICCV 2015, with a = sqrt(5).)
Tensor default_init(const Shape& shape, int64_t fan_in);

// Other ways to start: each gives a weight new values. fan_in counts the products behind a result, fan_out those that
// an input is part of; weights are (K, R, S, C / groups) or (out, in).
namespace init {

using Initializer = std::function<void(const Tensor& weight)>;
enum class Fan { in, out };

Initializer constant(double value);
Initializer uniform(double low, double high);
Initializer normal(double std, double mean = 0);
// Normal, values outside [low, high] drawn again. Error where less than a thousandth of them lies inside.
Initializer truncated_normal(double std, double mean = 0, double low = -2, double high = 2);
// He et al., "Delving deep into rectifiers", ICCV 2015: standard deviation gain / sqrt(fan); sqrt(2) is for ReLU.
Initializer kaiming_normal(Fan fan = Fan::in, double gain = 1.4142135623730951);
Initializer kaiming_uniform(Fan fan = Fan::in, double gain = 1.4142135623730951);
// Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", AISTATS 2010:
// standard deviation gain * sqrt(2 / (fan_in + fan_out)).
Initializer xavier_normal(double gain = 1);
Initializer xavier_uniform(double gain = 1);

// All weights of convolutions (four dimensions) and of dense layers (two) of a net; its one-dimensional "bias"
// parameters beside them become 0. Norms stay as they are.
void weights(Module& net, const Initializer& convolution, const Initializer& linear);

}  // namespace init
}  // namespace dnn
