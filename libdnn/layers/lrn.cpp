#include <libdnn/layers/lrn.h>

#include <fmt/format.h>

#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/lrn.h>
#include <libdnn/ops/pool2d.h>
#include <libdnn/ops/power.h>

namespace dnn {

LocalResponseNorm::LocalResponseNorm(const Options& o) : options_(o) {
  if (o.size < 1) throw Error(fmt::format("[local_response_norm] size must be at least 1; got {}", o.size));
  check_finite("local_response_norm", "alpha", o.alpha);
  check_finite("local_response_norm", "beta", o.beta);
  check_finite("local_response_norm", "k", o.k);
  if (o.within_channel && o.size % 2 == 0) {
    throw Error(fmt::format("[local_response_norm] within a channel the size must be odd; got {}", o.size));
  }
}

Tensor LocalResponseNorm::forward(const Tensor& x) {
  const auto& [size, alpha, beta, k, within_channel] = options_;
  if (!within_channel) return local_response_norm(x, size, alpha, beta, k);
  const int pad = (size - 1) / 2;
  const Tensor mean = avg_pool2d(x * x, {.window = {size, size}, .stride = {1, 1}, .padding = {pad, pad, pad, pad}});
  return x * power(mean, -beta, alpha, k);
}

}  // namespace dnn
