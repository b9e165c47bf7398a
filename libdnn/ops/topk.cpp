#include <libdnn/ops/topk.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/concat.h>
#include <libdnn/ops/logical.h>
#include <libdnn/ops/reduced_dims.h>
#include <libdnn/ops/where.h>

namespace dnn {
namespace {

// Value by value: equal ones were taken in the order of their places.
Tensor topk_backward(const Tensor& x, const Tensor& values, int k, int dim, const Tensor& dy) {
  const std::vector<int> one_each(static_cast<size_t>(k), 1);
  const TensorList value = split(values, one_each, dim), dvalue = split(dy, one_each, dim);
  Tensor dx = zeros(x.shape(), x.dtype(), x.device()), taken;
  for (size_t i = 0; i < value.size(); ++i) {
    const Tensor place = first_place(x, value[i], dim, taken);
    taken = taken.defined() ? logical_or(taken, place) : place;
    dx += where(place, dvalue[i], 0);
  }
  return dx;
}

}  // namespace

ValuesAndIndices topk(const Tensor& x, int k, int dim, bool largest) {
  const AxisShape shape = axis_shape(x.shape(), dim);
  if (k < 0 || k > shape.size) {
    throw Error(fmt::format("[topk] k must be from 0 to {}, the size of dimension {} of {}; got {}", shape.size, dim,
                            x.shape().str(), k));
  }
  const Shape y_shape = with_dim_size(x.shape(), dim, k);
  Tensor values(y_shape, x.dtype(), x.device()), index(y_shape, DType::int32, x.device());
  run_kernel("topk", {&x}, [&]<class T>(const Kernels<T>& kernels, Context& context) {
    kernels.topk(context, shape, k, largest, x.data<T>(), values.data<T>(), index.data<int32_t>());
  });
  if (!wants_grad(x)) return {values, index};
  record("topk", {x}, {values}, [x, dim, k, values = values.detach()](const TensorList& dy) -> TensorList {
    return {topk_backward(x, values, k, dim, dy[0])};
  });
  return {values, index};
}

}  // namespace dnn
