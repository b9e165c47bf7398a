#include <libdnn/layers/sequential.h>

namespace dnn {

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (const Child& child : children()) y = (*child.module)(y);
  return y;
}

}  // namespace dnn
