#include <libdnn/ops/power.h>

#include <libdnn/ops/unary.h>

namespace dnn {

Tensor power(const Tensor& x, double power, double scale, double shift) {
  return unary("power", {UnaryOp::pow, power, scale, shift}, x);
}

}  // namespace dnn
