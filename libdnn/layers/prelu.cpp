#include <libdnn/layers/prelu.h>

#include <fmt/format.h>

#include <libdnn/ops/check.h>
#include <libdnn/ops/prelu.h>

namespace dnn {

PReLU::PReLU(const Options& o) : options_(o) {
  if (o.num_parameters < 1) {
    throw Error(fmt::format("[prelu] needs at least one parameter; got num_parameters {}", o.num_parameters));
  }
  check_finite("prelu", "init", o.init);
  add_parameter("weight", full({o.num_parameters}, o.init));
}

Tensor PReLU::forward(const Tensor& x) { return prelu(x, parameter("weight")); }

}  // namespace dnn
