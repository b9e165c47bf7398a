#pragma once
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn::test {

// Element i of a float32 tensor, on any device.
inline void set_value(const Tensor& t, size_t i, float value) {
  std::vector<float> values = t.to_vector<float>();
  values[i] = value;
  t.copy_from(from_vector(values, t.shape(), t.device()));
}

}  // namespace dnn::test
