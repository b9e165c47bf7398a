#include <libdnn/layers/init.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dnn {

Tensor default_init(const Shape& shape, int64_t fan_in) {
  const double bound = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(fan_in, 1)));
  return rand(shape, -bound, bound);
}

namespace init {
namespace {

double fan_of(const Tensor& weight, Fan fan) {
  if (weight.dims() < 2) {
    throw Error(fmt::format("[init] a weight has at least 2 dimensions; got {}", weight.shape().str()));
  }
  const int64_t inputs = weight.size(0) > 0 ? weight.numel() / weight.size(0) : 0;
  const int64_t outputs = weight.size(-1) > 0 ? weight.numel() / weight.size(-1) : 0;
  return static_cast<double>(std::max<int64_t>(fan == Fan::in ? inputs : outputs, 1));
}

double xavier_std(const Tensor& weight, double gain) {
  return gain * std::sqrt(2 / (fan_of(weight, Fan::in) + fan_of(weight, Fan::out)));
}

void set_uniform(const Tensor& weight, double low, double high) {
  weight.copy_from(rand(weight.shape(), low, high, weight.dtype(), weight.device()));
}

void set_normal(const Tensor& weight, double mean, double std) {
  weight.copy_from(randn(weight.shape(), mean, std, weight.dtype(), weight.device()));
}

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

}  // namespace

Initializer constant(double value) {
  return [=](const Tensor& w) { w.copy_from(full(w.shape(), value, w.dtype(), w.device())); };
}

Initializer uniform(double low, double high) {
  return [=](const Tensor& w) { set_uniform(w, low, high); };
}

Initializer normal(double std, double mean) {
  return [=](const Tensor& w) { set_normal(w, mean, std); };
}

Initializer truncated_normal(double std, double mean, double low, double high) {
  if (!(std > 0 && normal_cdf((high - mean) / std) - normal_cdf((low - mean) / std) >= 1e-3)) {
    throw Error(
        fmt::format("[truncated_normal] [low, high] must hold a thousandth of the distribution; got std {}, mean "
                    "{}, low {}, high {}",
                    std, mean, low, high));
  }
  return [=](const Tensor& w) {
    std::vector<double> kept;
    const auto count = static_cast<size_t>(w.numel());
    while (kept.size() < count) {
      for (const float value : randn(w.shape(), mean, std, DType::float32, "cpu").to_vector<float>()) {
        if (value >= low && value <= high && kept.size() < count) kept.push_back(value);
      }
    }
    if (w.dtype() == DType::float64) {
      w.copy_from(from_vector(kept, w.shape(), "cpu"));
    } else {
      w.copy_from(from_vector(std::vector<float>(kept.begin(), kept.end()), w.shape(), "cpu"));
    }
  };
}

Initializer kaiming_normal(Fan fan, double gain) {
  return [=](const Tensor& w) { set_normal(w, 0, gain / std::sqrt(fan_of(w, fan))); };
}

Initializer kaiming_uniform(Fan fan, double gain) {
  return [=](const Tensor& w) {
    const double bound = gain * std::sqrt(3 / fan_of(w, fan));
    set_uniform(w, -bound, bound);
  };
}

Initializer xavier_normal(double gain) {
  return [=](const Tensor& w) { set_normal(w, 0, xavier_std(w, gain)); };
}

Initializer xavier_uniform(double gain) {
  return [=](const Tensor& w) {
    const double bound = std::sqrt(3.0) * xavier_std(w, gain);
    set_uniform(w, -bound, bound);
  };
}

void weights(Module& net, const Initializer& convolution, const Initializer& linear) {
  for (const NamedModule& entry : net.named_modules()) {
    const Tensor weight = entry.module->parameter_or_none("weight"), bias = entry.module->parameter_or_none("bias");
    if (!weight.defined() || weight.dims() < 2) continue;
    (weight.dims() == 4 ? convolution : linear)(weight);
    if (bias.defined()) constant(0)(bias);
  }
}

}  // namespace init
}  // namespace dnn
