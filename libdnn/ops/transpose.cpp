#include <libdnn/ops/transpose.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include <libdnn/autograd/tape.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/strided.h>

namespace dnn {
namespace {

// The dimensions as those of x, each one once.
std::vector<int> checked(const char* op, const Tensor& x, const std::vector<int>& dims) {
  if (static_cast<int>(dims.size()) != x.dims()) {
    throw Error(fmt::format("[{}] needs an axis for each dimension; got {} for {}", op, dims.size(), x.shape().str()));
  }
  std::vector<int> result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int dim = dims[i] < 0 ? dims[i] + x.dims() : dims[i];
    if (dim < 0 || dim >= x.dims() || std::count(result.begin(), result.end(), dim) > 0) {
      throw Error(fmt::format("[{}] axes must be a permutation of 0..{}; got {} at {}", op, x.dims() - 1, dims[i], i));
    }
    result.push_back(dim);
  }
  return result;
}

bool order_stays(const Shape& x, const std::vector<int>& dims) {
  int last = -1;
  for (const int dim : dims) {
    if (x[dim] == 1) continue;
    if (dim < last) return false;
    last = dim;
  }
  return true;
}

Tensor permuted(const char* op, const Tensor& x, const std::vector<int>& dims) {
  std::array<int, kMaxDims> sizes{};
  for (size_t i = 0; i < dims.size(); ++i) sizes[i] = x.size(dims[i]);
  return permute_as(op, x, dims, Shape(sizes.data(), x.dims()));
}

}  // namespace

Tensor permute_as(const char* op, const Tensor& x, const std::vector<int>& dims, const Shape& y_shape) {
  if (order_stays(x.shape(), dims)) {
    Tensor y = in_shape(x, y_shape);
    record(op, {x}, {y},
           [x_shape = x.shape()](const TensorList& dy) -> TensorList { return {in_shape(dy[0], x_shape)}; });
    return y;
  }
  const Strides dense = dense_strides(x.shape());
  StridedShape shape{.dims = x.dims(), .size = {}, .x_stride = {}, .y_stride = {}};
  int64_t step = 1;
  for (int i = x.dims() - 1; i >= 0; --i) {
    shape.size[i] = x.size(dims[i]);
    shape.x_stride[i] = dense[dims[i]];
    shape.y_stride[i] = step;
    step *= shape.size[i];
  }
  Tensor y(y_shape, x.dtype(), x.device());
  copy_strided(op, shape, x, 0, y, 0);
  if (!wants_grad(x)) return y;
  record(op, {x}, {y}, [op, shape, x_shape = x.shape()](const TensorList& dy) -> TensorList {
    const Tensor dx(x_shape, dy[0].dtype(), dy[0].device());
    copy_strided(op, reversed(shape), dy[0], 0, dx, 0);
    return {dx};
  });
  return y;
}

Tensor permute(const Tensor& x, const std::vector<int>& dims) {
  return permuted("permute", x, checked("permute", x, dims));
}

Tensor transpose(const Tensor& x, const std::vector<int>& axes) {
  return permuted("transpose", x, checked("transpose", x, axes));
}

Tensor transpose(const Tensor& x, int dim0, int dim1) {
  std::vector<int> dims(static_cast<size_t>(x.dims()));
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[x.shape().normalize(dim0, "transpose")], dims[x.shape().normalize(dim1, "transpose")]);
  return permuted("transpose", x, dims);
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
