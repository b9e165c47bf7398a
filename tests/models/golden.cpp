#include "golden.h"

#include <cmath>

#include <libdnn/formats/weights.h>

namespace dnn::test {

uint64_t fnv1a64(const std::string& key) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const unsigned char byte : key) hash = (hash ^ byte) * 0x100000001B3;
  return hash;
}

std::vector<double> golden_uniform(const std::string& key, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  uint64_t state = fnv1a64(key);
  for (double& value : values) {
    state += 0x9E3779B97F4A7C15;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z ^= z >> 31;
    value = static_cast<double>(z >> 40) / 16777216.0;
  }
  return values;
}

namespace {

struct Limits {
  double low, high;
};

Limits limits(const std::string& name, const Tensor& tensor) {
  if (tensor.dims() >= 2) {
    const double bound = std::sqrt(6.0 / (static_cast<double>(tensor.numel()) / tensor.size(0)));
    return {-bound, bound};
  }
  if (name.ends_with("running_var") || name.ends_with("weight")) return {0.5, 1.5};
  return {-0.1, 0.1};
}

}  // namespace

void set_golden_weights(const Module& net) {
  for (const auto& [name, tensor] : net.named_tensors()) {
    if (tensor.dtype() != DType::float32) continue;  // counters
    const auto [low, high] = limits(name, tensor);
    std::vector<float> values;
    for (const double u : golden_uniform(name, tensor.numel())) {
      values.push_back(static_cast<float>(low + (high - low) * u));
    }
    const Shape& s = tensor.shape();
    if (tensor.dims() == 4) {
      tensor.copy_from(kcrs_to_krsc(from_vector(values, {s[0], s[3], s[1], s[2]}, "cpu")));
    } else {
      tensor.copy_from(from_vector(values, s, "cpu"));
    }
  }
}

}  // namespace dnn::test
