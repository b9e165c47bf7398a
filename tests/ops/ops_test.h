#pragma once
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <libdnn/autograd/gradcheck.h>
#include <libdnn/autograd/tape.h>
#include <libdnn/core/tensor.h>

#include "../default_device.h"

// What the tests of operations share.
namespace dnn::test {

using Catch::Matchers::Contains;
using Op = std::function<TensorList(const TensorList&)>;

// A float64 tensor that asks for a gradient.
inline Tensor leaf64(const std::vector<double>& values, const Shape& shape) {
  return from_vector(values, shape, exact_device()).requires_grad(true);
}

// The same with seeded values in [-1, 1), none nearer to another or to 0 than finite differences reach.
inline Tensor random64(const Shape& shape, uint32_t seed) {
  const auto count = static_cast<size_t>(shape.numel());
  std::vector<double> values(count);
  uint32_t state = seed * 2654435761u + 1;
  for (size_t i = 0; i < count; ++i) values[i] = (2.0 * static_cast<double>(i) + 1) / static_cast<double>(count) - 1;
  for (size_t i = count; i > 1; --i) {  // shuffled
    state = state * 1664525u + 1013904223u;
    std::swap(values[i - 1], values[(state >> 8) % i]);
  }
  if (count % 2 == 1) {
    for (double& value : values) value += 0.25 / static_cast<double>(count);
  }
  return leaf64(values, shape);
}

// The values in float, or double, whatever the tensor's number type.
inline std::vector<double> values_of(const Tensor& t) {
  if (t.dtype() == DType::float64) return t.to_vector<double>();
  const std::vector<float> values = t.to_vector<float>();
  return {values.begin(), values.end()};
}

inline void check_near(const std::vector<double>& values, const std::vector<double>& expected,
                       double tolerance = 1e-6) {
  REQUIRE(values.size() == expected.size());
  double largest = 1;
  for (const double e : expected) largest = std::max(largest, std::abs(e));
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(values[i] - expected[i]) <= tolerance * largest)) {
      FAIL("element " << i << " of " << values.size() << ": " << values[i] << " instead of " << expected[i]);
    }
  }
  SUCCEED();
}

inline void check_values(const Tensor& t, const std::vector<double>& expected, double tolerance = 1e-6) {
  check_near(values_of(t), expected, tolerance);
}

// The rows that compute float32, but for the reference and for those that have not all kernels yet.
inline const std::vector<std::string>& float_rows() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const DeviceRow& row : device_rows()) {
      if (row.name != "meta" && row.name != "reference" && row.name != "cuda_emulated" &&
          row.unavailable_because.empty()) {
        found.push_back(row.name);
      }
    }
    return found;
  }();
  return names;
}

// A float32 copy on a row, with x's wish for a gradient.
inline Tensor float_copy(const Tensor& x, const std::string& row) {
  const std::vector<double> values = values_of(x);
  return from_vector(std::vector<float>(values.begin(), values.end()), x.shape(), row).requires_grad(x.requires_grad());
}

// Upstream gradients without a pattern.
inline Tensor upstream_for(const Tensor& y) {
  std::vector<double> values(static_cast<size_t>(y.numel()));
  uint32_t state = 77;
  for (double& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 8388608.0 - 1;
  }
  if (y.dtype() == DType::float64) return from_vector(values, y.shape(), y.device());
  return from_vector(std::vector<float>(values.begin(), values.end()), y.shape(), y.device());
}

inline void check_gradients(const Op& f, const TensorList& inputs) {
  const GradcheckResult check = gradcheck(f, inputs);
  INFO(check.message);
  CHECK(check.ok);
  CHECK(check.largest_grad > 0);
}

// Results and gradients of float32 on every row against float64 on the reference.
inline void check_rows(const Op& f, const TensorList& inputs, double tolerance = 1e-5) {
  const auto run = [&](const TensorList& in) {
    const TensorList results = f(in);
    TensorList grads;
    for (const Tensor& y : results) grads.push_back(upstream_for(y));
    for (const Tensor& x : in) x.set_grad(Tensor());
    backward(results, grads);
    return results;
  };
  // Both start from the same numbers.
  TensorList exact;
  for (const Tensor& x : inputs) {
    exact.push_back(from_vector(values_of(float_copy(x, "reference")), x.shape(), "reference"));
    exact.back().requires_grad(x.requires_grad());
  }
  const TensorList expected = run(exact);
  for (const std::string& row : float_rows()) {
    INFO("on " << row);
    TensorList single;
    for (const Tensor& x : inputs) single.push_back(float_copy(x, row));
    const TensorList results = run(single);
    REQUIRE(results.size() == expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      INFO("result " << i);
      CHECK(results[i].shape() == expected[i].shape());
      check_near(values_of(results[i]), values_of(expected[i]), tolerance);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].requires_grad()) continue;
      INFO("gradient " << i);
      REQUIRE(single[i].grad().defined());
      check_near(values_of(single[i].grad()), values_of(exact[i].grad()), tolerance);
    }
  }
}

// Both of the above.
inline void check_op(const Op& f, const TensorList& inputs, double tolerance = 1e-5) {
  check_gradients(f, inputs);
  check_rows(f, inputs, tolerance);
}

// An empty batch: the shape is right, gradients of parameters are zeros and nothing faults.
inline void check_empty(const Op& f, const TensorList& inputs, const Shape& expected) {
  for (const Tensor& x : inputs) x.set_grad(Tensor());
  const Tensor y = f(inputs)[0];
  CHECK(y.shape() == expected);
  y.backward(Tensor(expected, y.dtype(), y.device()));
  for (const Tensor& x : inputs) {
    if (!x.requires_grad()) continue;
    REQUIRE(x.grad().defined());
    for (const double value : values_of(x.grad())) CHECK(value == 0);
  }
}

}  // namespace dnn::test
