#include <libdnn/ops/transpose.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/core/tensor_impl.h>
#include <libdnn/ops/check.h>

namespace dnn {
namespace {

// The same transposition without dimensions of size 1, and with dimensions that stay neighbours as one.
TransposeShape merged(const TransposeShape& shape) {
  std::array<int, kMaxDims> first{};  // the dimensions of x that open a merged one, in y's order
  std::array<int, kMaxDims> size{};
  int count = 0, last = -1;
  for (int i = 0; i < shape.dims; ++i) {
    const int axis = shape.axes[i];
    if (shape.size[axis] == 1) continue;
    bool follows = last >= 0 && last < axis;
    for (int between = last + 1; follows && between < axis; ++between) follows = shape.size[between] == 1;
    if (follows && int64_t{size[count - 1]} * shape.size[axis] <= std::numeric_limits<int>::max()) {
      size[count - 1] *= shape.size[axis];
    } else {
      first[count] = axis;
      size[count] = shape.size[axis];
      ++count;
    }
    last = axis;
  }
  TransposeShape small;
  small.dims = count;
  for (int i = 0; i < count; ++i) {
    small.axes[i] = static_cast<int>(
        std::count_if(first.begin(), first.begin() + count, [&](int other) { return other < first[i]; }));
    small.size[small.axes[i]] = size[i];
  }
  return small;
}

TransposeShape inverse(const TransposeShape& shape) {
  TransposeShape back;
  back.dims = shape.dims;
  for (int i = 0; i < shape.dims; ++i) {
    back.size[i] = shape.size[shape.axes[i]];
    back.axes[shape.axes[i]] = i;
  }
  return back;
}

Tensor moved(const char* op, const Tensor& x, const TransposeShape& shape, const Shape& y_shape) {
  if (shape.dims <= 1) {
    Tensor y = x.detach();
    y.impl()->shape = y_shape;
    return y;
  }
  Tensor y(y_shape, x.dtype(), x.device());
  run_kernel(op, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.transpose(context, shape, x.data<T>(), y.data<T>());
  });
  return y;
}

}  // namespace

Tensor transpose_as(const char* op, const Tensor& x, const TransposeShape& shape, const Shape& y_shape) {
  const TransposeShape small = merged(shape);
  Tensor y = moved(op, x, small, y_shape);
  if (!wants_grad(x)) return y;
  record(op, {x}, {y}, [op, small, x_shape = x.shape()](const TensorList& dy) -> TensorList {
    return {moved(op, dy[0], inverse(small), x_shape)};
  });
  return y;
}

Tensor transpose(const Tensor& x, const std::vector<int>& axes) {
  if (static_cast<int>(axes.size()) != x.dims()) {
    throw Error(
        fmt::format("[transpose] needs an axis for each dimension; got {} for {}", axes.size(), x.shape().str()));
  }
  TransposeShape shape;
  shape.dims = x.dims();
  std::copy(x.shape().begin(), x.shape().end(), shape.size.begin());
  std::copy(axes.begin(), axes.end(), shape.axes.begin());
  shape.check("transpose");
  std::array<int, kMaxDims> sizes{};
  for (int i = 0; i < shape.dims; ++i) sizes[i] = shape.size[shape.axes[i]];
  return transpose_as("transpose", x, shape, Shape(sizes.data(), shape.dims));
}

Tensor nhwc_to_nchw(const Tensor& x) {
  check_dims("nhwc_to_nchw", "x", x, 4);
  return transpose(x, {0, 3, 1, 2});
}

Tensor nchw_to_nhwc(const Tensor& x) {
  check_dims("nchw_to_nhwc", "x", x, 4);
  return transpose(x, {0, 2, 3, 1});
}

}  // namespace dnn
