#include <libdnn/ops/check.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/counted.h>
#include <libdnn/ops/reduced_dims.h>

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

AxisShape axis_with_values(const char* op, const Tensor& x, int dim) {
  const Shape& shape = x.shape();
  const int at = shape.normalize(dim, op);
  if (shape[at] == 0) {
    throw Error(fmt::format("[{}] needs at least one value along dimension {}; got {}", op, dim, shape.str()));
  }
  return axis_shape(op, shape, dim);
}

int packed_size(const char* op, const Tensor& w, int64_t count) {
  if (count <= std::numeric_limits<int>::max()) return static_cast<int>(count);
  throw Error(fmt::format("[{}] {} would take too many values: {}", op, w.shape().str(), count));
}

void check_no_grad(const char* op, const TensorList& operands) {
  if (wants_grad(operands))
    throw Error(fmt::format("[{}] a packed weight has no backward step; call it under NoGrad", op));
}

void check_channels(const char* op, int in, int out, int groups) {
  if (in >= 1 && out >= 1 && groups >= 1 && in % groups == 0 && out % groups == 0) return;
  throw Error(fmt::format("[{}] channels are at least 1 and multiples of the groups; got {} in, {} out, {}", op, in,
                          out, counted(groups, "group")));
}

void check_at_least(const char* op, const char* name, std::array<int, 2> got, int least) {
  if (got[0] >= least && got[1] >= least) return;
  throw Error(fmt::format("[{}] {} must be at least {}; got {}x{}", op, name, least, got[0], got[1]));
}

void check_padding(const char* op, std::array<int, 4> p) {
  if (p[0] >= 0 && p[1] >= 0 && p[2] >= 0 && p[3] >= 0) return;
  throw Error(fmt::format("[{}] padding must not be negative; got top {}, left {}, bottom {}, right {}", op, p[0], p[1],
                          p[2], p[3]));
}

void check_output_padding(const char* op, std::array<int, 2> output_padding, std::array<int, 2> stride,
                          std::array<int, 2> dilation) {
  check_at_least(op, "stride", stride, 1);
  check_at_least(op, "dilation", dilation, 1);
  for (size_t i = 0; i < 2; ++i) {
    if (output_padding[i] >= 0 && output_padding[i] < std::max(stride[i], dilation[i])) continue;
    throw Error(
        fmt::format("[{}] output_padding is at least 0 and below the stride or the dilation; got {}x{} for "
                    "stride {}x{} and dilation {}x{}",
                    op, output_padding[0], output_padding[1], stride[0], stride[1], dilation[0], dilation[1]));
  }
}

void check_batch_norm(double eps, double momentum) {
  if (!(eps >= 0 && std::isfinite(eps)))
    throw Error(fmt::format("[batch_norm] eps is a number from 0 on; got {}", eps));
  if (!(momentum >= 0 && momentum <= 1)) {
    throw Error(fmt::format("[batch_norm] momentum is from 0 to 1; got {}", momentum));
  }
}

void check_finite(const char* op, const char* name, double value) {
  if (!std::isfinite(value)) throw Error(fmt::format("[{}] {} must be finite; got {}", op, name, value));
}

std::string layout_hint(const Shape& x, int channels) {
  const bool second = x.dims() == 4 && x[3] != channels && x[1] == channels;
  return second ? "; x looks like (N, C, H, W), which nchw_to_nhwc brings to (N, H, W, C)" : "";
}

void check_alpha(UnaryOp op, double alpha) {
  if (op == UnaryOp::leaky_relu) return check_finite("leaky_relu", "negative_slope", alpha);
  if (op == UnaryOp::elu) return check_finite("elu", "alpha", alpha);
  check_finite("softplus", "beta", alpha);
  if (alpha == 0) throw Error("[softplus] beta must not be 0; got 0");
}

void check_hardtanh(double min, double max) {
  if (!(min < max)) throw Error(fmt::format("[hardtanh] min must be below max; got {} and {}", min, max));
}

void check_activation(const char* op, const Activation& f) {
  if (!is_activation(f.op)) throw Error(fmt::format("[{}] takes an activation; got another function", op));
  if (f.op == UnaryOp::leaky_relu || f.op == UnaryOp::elu || f.op == UnaryOp::softplus) check_alpha(f.op, f.a);
  if (f.op == UnaryOp::swish) check_finite("silu", "beta", f.a);
  if (f.op == UnaryOp::hardtanh) check_hardtanh(f.a, f.b);
}

ResizeShape resize_shape(const char* op, const Tensor& x, std::array<int, 2> size) {
  check_dims(op, "x", x, 4);
  const ResizeShape shape{x.size(0), x.size(1), x.size(2), x.size(3), size[0], size[1]};
  shape.check(op);
  return shape;
}

}  // namespace dnn
