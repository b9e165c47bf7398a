#include <libdnn/ops/slice.h>

#include <fmt/format.h>

#include <algorithm>

#include <libdnn/autograd/tape.h>
#include <libdnn/ops/strided.h>

namespace dnn {
namespace {

// Places of x along `dim`, from `first` in steps; y has their number there, or, as `y_shape` says, lacks the dimension.
Tensor places(const char* op, const Tensor& x, int dim, int first, int step, int count, const Shape& y_shape) {
  const Shape size = with_size(x.shape(), dim, count);
  Strides x_stride = dense_strides(x.shape());
  const int64_t offset = first * x_stride[dim];
  x_stride[dim] *= step;
  const StridedShape shape = strided_shape(size, x_stride, dense_strides(size));
  Tensor y(y_shape, x.dtype(), x.device());
  copy_strided(op, shape, x, offset, y, 0);
  if (!wants_grad(x)) return y;
  record(op, {x}, {y}, [op, shape, offset, x_shape = x.shape()](const TensorList& dy) -> TensorList {
    const Tensor dx = zeros(x_shape, dy[0].dtype(), dy[0].device());
    copy_strided(op, reversed(shape), dy[0], 0, dx, offset);
    return {dx};
  });
  return y;
}

}  // namespace

Tensor Tensor::slice(int dim, int from, int to, int step) const {
  dim = shape().normalize(dim, "slice");
  if (step < 1) throw Error(fmt::format("[slice] step must be at least 1; got {}", step));
  const int all = size(dim);
  const auto place = [all](int at) { return std::clamp(at < 0 ? at + all : at, 0, all); };
  const int first = place(from), length = std::max(place(to) - first, 0);
  const int count = static_cast<int>((int64_t{length} + step - 1) / step);
  return places("slice", *this, dim, first, step, count, with_size(shape(), dim, count));
}

Tensor Tensor::operator[](int index) const { return select(*this, 0, index); }

Tensor select(const Tensor& x, int dim, int index) {
  dim = x.shape().normalize(dim, "select");
  const int all = x.size(dim), place = index < 0 ? index + all : index;
  if (place < 0 || place >= all) {
    throw Error(fmt::format("[select] index {} is outside {}..{} of dimension {} of {}", index, -all, all - 1, dim,
                            x.shape().str()));
  }
  return places("select", x, dim, place, 1, 1, without_dim(x.shape(), dim));
}

Tensor narrow(const Tensor& x, int dim, int start, int length) {
  dim = x.shape().normalize(dim, "narrow");
  const int all = x.size(dim), first = start < 0 ? start + all : start;
  if (first < 0 || first > all || length < 0 || length > all - first) {
    throw Error(fmt::format("[narrow] {} places from {} on are not all in dimension {} of {}", length, start, dim,
                            x.shape().str()));
  }
  return places("narrow", x, dim, first, 1, length, with_size(x.shape(), dim, length));
}

Tensor flip(const Tensor& x, const std::vector<int>& dims) {
  Strides x_stride = dense_strides(x.shape());
  const Strides y_stride = x_stride;
  int64_t offset = 0;
  for (const int named : dims) {
    const int dim = x.shape().normalize(named, "flip");
    if (x_stride[dim] < 0) {
      throw Error(fmt::format("[flip] a dimension is named twice; got {} for {}", named, x.shape().str()));
    }
    offset += std::max(x.size(dim) - 1, 0) * x_stride[dim];
    x_stride[dim] = -x_stride[dim];
  }
  Tensor y(x.shape(), x.dtype(), x.device());
  copy_strided("flip", strided_shape(x.shape(), x_stride, y_stride), x, offset, y, 0);
  if (!wants_grad(x)) return y;
  record("flip", {x}, {y}, [dims](const TensorList& dy) -> TensorList { return {flip(dy[0], dims)}; });
  return y;
}

}  // namespace dnn
