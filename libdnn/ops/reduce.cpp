#include <libdnn/ops/reduce.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>

namespace dnn {
namespace {

using Marks = std::array<bool, kMaxDims>;  // of the dimensions to sum over

// Neighbouring dimensions of one kind as one.
ReduceShape merged(const Shape& x, const Marks& reduced) {
  ReduceShape shape;
  for (int i = 0; i < x.dims(); ++i) {
    if (x[i] == 1) continue;
    if (shape.dims > 0 && shape.reduced[shape.dims - 1] == reduced[i]) {
      shape.size[shape.dims - 1] *= x[i];
      continue;
    }
    shape.size[shape.dims] = x[i];
    shape.reduced[shape.dims] = reduced[i];
    ++shape.dims;
  }
  return shape;
}

// How dy repeats along the dimensions that were summed, beside a number that repeats everywhere.
BroadcastShape back(const ReduceShape& forward) {
  BroadcastShape shape;
  shape.dims = forward.dims;
  shape.size = forward.size;
  int64_t step = 1;
  for (int i = forward.dims - 1; i >= 0; --i) {
    if (forward.reduced[i]) continue;
    shape.a_stride[i] = step;
    step *= forward.size[i];
  }
  return shape;
}

Tensor reduce(const char* op, const Tensor& x, const Marks& reduced, const Shape& y_shape, double scale) {
  const ReduceShape shape = merged(x.shape(), reduced);
  Tensor y(y_shape, x.dtype(), x.device());
  run_kernel(op, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.sum(context, shape, static_cast<T>(scale), x.data<T>(), y.data<T>());
  });

  if (!wants_grad(x)) return y;
  record(op, {x}, {y}, [op, shape, scale, x_shape = x.shape()](const TensorList& dy) -> TensorList {
    const Tensor dx(x_shape, dy[0].dtype(), dy[0].device());
    const Tensor factor = full({}, scale, dx.dtype(), dx.device());
    run_kernel(op, {&dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.mul(context, back(shape), dy[0].data<T>(), factor.data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

Marks marks(const char* op, const Shape& x, const std::vector<int>& dims) {
  Marks reduced{};
  if (dims.empty()) reduced.fill(true);
  for (const int dim : dims) {
    bool& mark = reduced[static_cast<size_t>(x.normalize(dim))];
    if (mark) throw Error(fmt::format("[{}] a dimension is named twice; got {} for {}", op, dim, x.str()));
    mark = true;
  }
  return reduced;
}

Shape reduced_shape(const Shape& x, const Marks& reduced, bool keep_dims) {
  std::array<int, kMaxDims> sizes{};
  int dims = 0;
  for (int i = 0; i < x.dims(); ++i) {
    if (!reduced[i]) {
      sizes[dims++] = x[i];
    } else if (keep_dims) {
      sizes[dims++] = 1;
    }
  }
  return Shape(sizes.data(), dims);
}

}  // namespace

Tensor sum(const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  const Marks reduced = marks("sum", x.shape(), dims);
  return reduce("sum", x, reduced, reduced_shape(x.shape(), reduced, keep_dims), 1);
}

Tensor mean(const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  const Marks reduced = marks("mean", x.shape(), dims);
  double cells = 1;
  for (int i = 0; i < x.dims(); ++i) cells *= reduced[i] ? x.size(i) : 1;
  return reduce("mean", x, reduced, reduced_shape(x.shape(), reduced, keep_dims), 1 / cells);
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int missing = x.dims() - shape.dims();
  bool fits = missing >= 0;
  Marks reduced{};
  for (int i = 0; fits && i < x.dims(); ++i) {
    reduced[i] = i < missing || (shape[i - missing] == 1 && x.size(i) != 1);
    fits = reduced[i] || shape[i - missing] == x.size(i);
  }
  if (!fits) throw Error(fmt::format("[sum_to] {} does not broadcast to {}", shape.str(), x.shape().str()));
  return reduce("sum_to", x, reduced, shape, 1);
}

}  // namespace dnn
