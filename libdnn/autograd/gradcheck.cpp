#include <libdnn/autograd/gradcheck.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <libdnn/autograd/tape.h>

namespace dnn {
namespace {

constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-6;

// sum over all results of result * weight: one number whose gradient exercises every element.
double weighted_sum(const TensorList& results, const TensorList& weights) {
  double sum = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::vector<double> y = results[i].to_vector<double>(), w = weights[i].to_vector<double>();
    for (size_t j = 0; j < y.size(); ++j) sum += y[j] * w[j];
  }
  return sum;
}

// Upstream gradients without a pattern, in [0.5, 1.5) with changing sign.
TensorList upstream(const TensorList& results) {
  TensorList weights;
  uint64_t state = 12345;
  for (const Tensor& y : results) {
    std::vector<double> w(static_cast<size_t>(y.numel()));
    for (double& value : w) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const double u = static_cast<double>(state >> 40) / (1 << 24);
      value = (state >> 39 & 1) ? 0.5 + u : -0.5 - u;
    }
    weights.push_back(from_vector(w, y.shape(), y.device()));
  }
  return weights;
}

}  // namespace

GradcheckResult gradcheck(const std::function<TensorList(const TensorList&)>& f, const TensorList& inputs) {
  GradcheckResult check;
  for (const Tensor& input : inputs) {
    if (input.dtype() == DType::float32) throw Error("[gradcheck] inputs must be float64; got float32");
    input.set_grad(Tensor());
  }
  const TensorList results = f(inputs);
  const TensorList weights = upstream(results);
  backward(results, weights);

  const NoGrad no_grad;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    const Tensor grad = inputs[i].grad();
    const std::vector<double> analytic =
        grad.defined() ? grad.to_vector<double>() : std::vector<double>(static_cast<size_t>(inputs[i].numel()));
    std::vector<double> x = inputs[i].to_vector<double>();
    const auto result_with = [&](size_t j, double value) {
      const double before = std::exchange(x[j], value);
      inputs[i].copy_from(from_vector(x, inputs[i].shape(), inputs[i].device()));
      x[j] = before;
      return weighted_sum(f(inputs), weights);
    };
    for (size_t j = 0; j < x.size(); ++j) {
      const double above = result_with(j, x[j] + kStep), below = result_with(j, x[j] - kStep);
      const double a = analytic[j], n = (above - below) / (2 * kStep);
      const double error = std::abs(a - n) / std::max({1.0, std::abs(a), std::abs(n)});
      check.largest_grad = std::max(check.largest_grad, std::abs(a));
      if (!(error <= kTolerance) && check.message.empty()) {
        check.message = fmt::format("input {}, element {}: gradient {:.9g}, by differences {:.9g}", i, j, a, n);
      }
      if (!(error <= check.largest_error)) check.largest_error = error;
    }
    inputs[i].copy_from(from_vector(x, inputs[i].shape(), inputs[i].device()));
  }
  if (check.largest_grad == 0 && check.message.empty()) check.message = "all gradients are zero";
  check.ok = check.message.empty();
  return check;
}

}  // namespace dnn
