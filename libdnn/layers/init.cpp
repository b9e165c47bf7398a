#include <libdnn/layers/init.h>

#include <algorithm>
#include <cmath>

namespace dnn {

Tensor default_init(const Shape& shape, int64_t fan_in) {
  const double bound = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(fan_in, 1)));
  return rand(shape, -bound, bound);
}

}  // namespace dnn
