#include <libdnn/layers/dropout.h>

#include <fmt/format.h>

#include <libdnn/ops/dropout.h>

namespace dnn {

Dropout::Dropout(double p) : p_(p) {
  if (!(p >= 0 && p <= 1)) throw Error(fmt::format("[dropout] the probability is from 0 to 1; got {}", p));
}

Tensor Dropout::forward(const Tensor& x) { return dropout(x, p_, training()); }

}  // namespace dnn
