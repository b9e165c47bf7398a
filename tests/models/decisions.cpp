#include "decisions.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include <libdnn/layers/linear.h>
#include <libdnn/layers/pool2d.h>

namespace dnn::test {
namespace {

Decision pooling(const std::string& layer, const MaxPool2d& pool, const Tensor& input, const Shape& output) {
  const Pool2dOptions& o = pool.options();
  Decision d{layer, o.window[0] * o.window[1], {}};
  const std::vector<float> x = input.to_vector<float>();
  const int stride_h = o.stride[0] > 0 ? o.stride[0] : o.window[0],
            stride_w = o.stride[1] > 0 ? o.stride[1] : o.window[1];
  const int h = input.size(1), w = input.size(2), c = input.size(3);
  for (int n = 0; n < output[0]; ++n) {
    for (int i = 0; i < output[1] * output[2] * output[3]; ++i) {
      const int top = i / output[3] / output[2] * stride_h, left = i / output[3] % output[2] * stride_w;
      for (int r = 0; r < o.window[0]; ++r) {
        for (int s = 0; s < o.window[1]; ++s) d.cells.push_back(x[((n * h + top + r) * w + left + s) * c + i % c]);
      }
    }
  }
  return d;
}

Decision relu(const std::string& layer, const Tensor& output) {
  Decision d{layer, 2, {}};
  for (const float y : output.to_vector<float>()) d.cells.insert(d.cells.end(), {0, y});
  return d;
}

}  // namespace

std::vector<Decision> record_decisions(Module& net, const std::function<void()>& run) {
  std::vector<Decision> decisions;
  ScopedHooks hooks;
  for (const NamedModule& m : net.named_modules()) {
    const auto* const pool = dynamic_cast<const MaxPool2d*>(m.module);
    const auto* const linear = dynamic_cast<const Linear*>(m.module);
    if (!pool && !(linear && linear->options().activation == Activation::relu)) continue;
    hooks.add(m.module->register_forward_hook(
        [&decisions, pool, name = m.name](Module&, const TensorList& x, const Tensor& y) {
          decisions.push_back(pool ? pooling(name, *pool, x[0], y.shape()) : relu(name, y));
        }));
  }
  run();
  return decisions;
}

bool same_but_for_ties(const std::vector<Decision>& a, const std::vector<Decision>& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  bool same = true;
  for (size_t d = 0; d < a.size(); ++d) {
    INFO(a[d].layer);
    REQUIRE(a[d].layer == b[d].layer);
    REQUIRE(a[d].cells.size() == b[d].cells.size());
    double scale = 0, widest = 0;
    for (const float v : a[d].cells) scale = std::max(scale, std::abs(double{v}));
    for (auto x = a[d].cells.begin(), y = b[d].cells.begin(); x != a[d].cells.end();
         x += a[d].options, y += a[d].options) {
      const auto i = std::max_element(x, x + a[d].options) - x, j = std::max_element(y, y + a[d].options) - y;
      if (i == j) continue;
      same = false;
      widest = std::max({widest, double{x[i]} - double{x[j]}, double{y[j]} - double{y[i]}});
    }
    CHECK(widest <= tolerance * scale);
  }
  return same;
}

}  // namespace dnn::test
