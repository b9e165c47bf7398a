#include <libdnn/ops/check.h>

#include <fmt/format.h>

#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/counted.h>

namespace dnn {

void check_dims(const char* op, const char* operand, const Shape& shape, int dims) {
  if (shape.dims() == dims) return;
  throw Error(fmt::format("[{}] {} must have {}; got {}", op, operand, counted(dims, "dimension"), shape.str()));
}

void check_dims(const char* op, const char* operand, const Tensor& t, int dims) {
  check_dims(op, operand, t.shape(), dims);
}

void check_shape(const char* op, const char* operand, const Tensor& t, const Shape& expected) {
  if (t.shape() == expected) return;
  throw Error(fmt::format("[{}] {} must be {}; got {}", op, operand, expected.str(), t.shape().str()));
}

RowsShape last_dim_rows(const char* op, const Tensor& x) {
  if (x.dims() == 0 || x.size(-1) == 0) {
    throw Error(fmt::format("[{}] needs at least one value along the last dimension; got {}", op, x.shape().str()));
  }
  return {x.numel() / x.size(-1), x.size(-1)};
}

int packed_size(const char* op, const Tensor& w, int64_t count) {
  if (count <= std::numeric_limits<int>::max()) return static_cast<int>(count);
  throw Error(fmt::format("[{}] {} would take too many values: {}", op, w.shape().str(), count));
}

void check_no_grad(const char* op, const TensorList& operands) {
  if (wants_grad(operands)) throw Error(fmt::format("[{}] a packed weight has no way back; call it under NoGrad", op));
}

void check_channels(const char* op, int in, int out, int groups) {
  if (in >= 1 && out >= 1 && groups >= 1 && in % groups == 0 && out % groups == 0) return;
  throw Error(fmt::format("[{}] channels are at least 1 and multiples of the groups; got {} in, {} out, {}", op, in,
                          out, counted(groups, "group")));
}

ResizeShape resize_shape(const char* op, const Tensor& x, std::array<int, 2> size) {
  check_dims(op, "x", x, 4);
  const ResizeShape shape{x.size(0), x.size(1), x.size(2), x.size(3), size[0], size[1]};
  shape.check(op);
  return shape;
}

}  // namespace dnn
