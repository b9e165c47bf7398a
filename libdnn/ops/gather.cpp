#include <libdnn/ops/gather.h>

#include <fmt/format.h>

#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/reduced_dims.h>
#include <libdnn/ops/strided.h>

namespace dnn {
namespace {

// Indices of the kinds that kernels take, all in [0, size).
void check_index(const char* op, const Tensor& index, int64_t size) {
  if (index.dtype() != DType::int32 && index.dtype() != DType::int64) {
    throw Error(fmt::format("[{}] indices must be int32 or int64; got {}", op, name_of(index.dtype())));
  }
  if (index.device().backend().kind == DeviceKind::meta || index.numel() == 0) return;
  const Tensor first({}, DType::int64, index.device());
  run_raw_kernel(op, {&index, &first}, [&](const RawKernels& k, Context& context) {
    k.first_outside(context, index.dtype(), index.numel(), size, index.raw_data(), first.data<int64_t>());
  });
  const int64_t position = first.to_vector<int64_t>()[0];
  if (position < 0) return;
  const StridedShape one;
  const Tensor bad({}, index.dtype(), index.device());
  copy_strided(op, one, index, position, bad, 0);
  throw Error(fmt::format("[{}] index {} at position {} of {} is outside 0..{}", op,
                          bad.to(DType::int64).to_vector<int64_t>()[0], position, index.shape().str(), size - 1));
}

// x along `dim`, and so many indices for it.
GatherShape gather_shape(const Shape& x, int dim, int64_t count, DType index_type, bool each) {
  const AxisShape axis = axis_shape("gather", x, dim);
  return {.outer = axis.outer,
          .size = axis.size,
          .count = count,
          .inner = axis.inner,
          .index_each = each,
          .index_type = index_type};
}

Tensor scattered(const char* op, const GatherShape& shape, const Tensor& index, const Tensor& dy,
                 const Shape& x_shape) {
  const Tensor dx = zeros(x_shape, dy.dtype(), dy.device());
  run_kernel(op, {&dy}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.scatter_add(context, shape, dy.data<T>(), index.raw_data(), dx.data<T>());
  });
  return dx;
}

Tensor picked(const char* op, const GatherShape& shape, const Tensor& x, const Tensor& index, const Shape& y_shape) {
  check_index(op, index, shape.size);
  Tensor y(y_shape, x.dtype(), x.device());
  run_raw_kernel(op, {&x, &index}, [&](const RawKernels& k, Context& context) {
    k.gather_rows(context, shape, size_of(x.dtype()), x.raw_data(), index.raw_data(), y.raw_data());
  });
  if (!wants_grad(x)) return y;
  record(op, {x}, {y}, [op, shape, index, x_shape = x.shape()](const TensorList& dy) -> TensorList {
    return {scattered(op, shape, index, dy[0], x_shape)};
  });
  return y;
}

}  // namespace

Tensor scatter_along(const char* op, const Shape& x, int dim, int places, const Tensor& index, const Tensor& dy) {
  return scattered(op, gather_shape(x, dim, places, index.dtype(), true), index, dy, x);
}

Tensor gather(const Tensor& x, int dim, const Tensor& index) {
  dim = x.shape().normalize(dim, "gather");
  bool fits = index.dims() == x.dims();
  for (int i = 0; fits && i < x.dims(); ++i) fits = i == dim || index.size(i) <= x.size(i);
  if (!fits) {
    throw Error(
        fmt::format("[gather] index must have x's dimensions, and sizes of at most x's but in dimension {}; "
                    "got {} for {}",
                    dim, index.shape().str(), x.shape().str()));
  }
  Tensor from = x;
  for (int i = 0; i < x.dims(); ++i) {
    if (i != dim && index.size(i) < x.size(i)) from = from.slice(i, 0, index.size(i));
  }
  return picked("gather", gather_shape(from.shape(), dim, index.size(dim), index.dtype(), true), from, index,
                index.shape());
}

Tensor index_select(const Tensor& x, int dim, const Tensor& index) {
  dim = x.shape().normalize(dim, "index_select");
  check_dims("index_select", "index", index, 1);
  return picked("index_select", gather_shape(x.shape(), dim, index.numel(), index.dtype(), false), x, index,
                with_size(x.shape(), dim, index.size(0)));
}

Tensor embedding(const Tensor& weight, const Tensor& indices) {
  check_dims("embedding", "weight", weight, 2);
  return picked("embedding", gather_shape(weight.shape(), 0, indices.numel(), indices.dtype(), false), weight, indices,
                with_dim(indices.shape(), indices.dims(), weight.size(1)));
}

Tensor one_hot(const Tensor& x, int classes) {
  if (classes < 1) throw Error(fmt::format("[one_hot] classes must be at least 1; got {}", classes));
  check_index("one_hot", x, classes);
  const Shape shape = with_dim(x.shape(), x.dims(), classes);
  const Tensor marks = zeros(shape, DType::float32, x.device()), marked = ones(x.shape(), DType::float32, x.device());
  const GatherShape scatter{
      .outer = x.numel(), .size = classes, .count = 1, .inner = 1, .index_each = true, .index_type = x.dtype()};
  run_kernel("one_hot", {&marks}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.scatter_add(context, scatter, marked.data<T>(), x.raw_data(), marks.data<T>());
  });
  return marks.to(DType::int64);
}

}  // namespace dnn
