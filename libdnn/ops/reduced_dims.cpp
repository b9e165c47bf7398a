#include <libdnn/ops/reduced_dims.h>

#include <fmt/format.h>

#include <libdnn/core/dispatch.h>

namespace dnn {

ReducedDims::ReducedDims(const char* op, const Shape& x, const std::vector<int>& dims) : x_(x) {
  if (dims.empty()) reduced_.fill(true);
  for (const int dim : dims) {
    bool& mark = reduced_[static_cast<size_t>(x.normalize(dim, op))];
    if (mark) throw Error(fmt::format("[{}] a dimension is named twice; got {} for {}", op, dim, x.str()));
    mark = true;
  }
}

ReduceShape ReducedDims::shape() const {
  ReduceShape shape;
  for (int i = 0; i < x_.dims(); ++i) {
    if (x_[i] == 1) continue;
    if (shape.dims > 0 && shape.reduced[shape.dims - 1] == reduced_[i]) {
      shape.size[shape.dims - 1] *= x_[i];
      continue;
    }
    shape.size[shape.dims] = x_[i];
    shape.reduced[shape.dims] = reduced_[i];
    ++shape.dims;
  }
  return shape;
}

Shape ReducedDims::result(bool keep_dims) const {
  std::array<int, kMaxDims> sizes{};
  int dims = 0;
  for (int i = 0; i < x_.dims(); ++i) {
    if (!reduced_[i]) {
      sizes[dims++] = x_[i];
    } else if (keep_dims) {
      sizes[dims++] = 1;
    }
  }
  return Shape(sizes.data(), dims);
}

double ReducedDims::cells() const {
  double cells = 1;
  for (int i = 0; i < x_.dims(); ++i) cells *= reduced_[i] ? x_[i] : 1;
  return cells;
}

Tensor reduce(const char* op, ReduceOp kind, const Tensor& x, const ReduceShape& shape, const Shape& y_shape,
              double scale) {
  Tensor y(y_shape, x.dtype(), x.device());
  run_kernel(op, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.reduce(context, kind, shape, scale, x.data<T>(), y.data<T>());
  });
  return y;
}

AxisShape axis_shape(const char* op, const Shape& x, int dim) {
  dim = x.normalize(dim, op);
  AxisShape axis;
  axis.size = x[dim];
  for (int i = 0; i < dim; ++i) axis.outer *= x[i];
  for (int i = dim + 1; i < x.dims(); ++i) axis.inner *= x[i];
  return axis;
}

}  // namespace dnn
