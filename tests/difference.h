#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn::test {

// The largest |a - b| of their elements, float32; infinite where there is a NaN or the shapes differ.
inline double largest_difference(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) return std::numeric_limits<double>::infinity();
  const std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(double{x[i]} - double{y[i]});
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    if (difference > largest) largest = difference;
  }
  return largest;
}

}  // namespace dnn::test
