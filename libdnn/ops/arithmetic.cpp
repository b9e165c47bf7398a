#include <libdnn/ops/arithmetic.h>

#include <fmt/format.h>

#include <algorithm>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/reduce.h>

namespace dnn {
namespace {

Shape broadcast(const char* op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const int dims = std::max(a.dims(), b.dims());
  std::array<int, kMaxDims> sizes{};
  for (int i = 1; i <= dims; ++i) {  // from the last dimension
    const int a_size = i <= a.dims() ? a[-i] : 1, b_size = i <= b.dims() ? b[-i] : 1;
    if (a_size != b_size && a_size != 1 && b_size != 1) {
      throw Error(fmt::format("[{}] sizes must be equal or 1; got {} and {}", op, a.str(), b.str()));
    }
    sizes[static_cast<size_t>(dims - i)] = a_size == 1 ? b_size : a_size;
  }
  return Shape(sizes.data(), dims);
}

// choose(kernels) is the kernel to run.
template <class Choose>
Tensor binary(const char* op, const Tensor& a, const Tensor& b, Choose choose) {
  Tensor y(broadcast(op, a.shape(), b.shape()), a.dtype(), a.device());
  run_kernel(op, {&a, &b}, [&]<class T>(const Kernels<T>& k, Context& context) {
    const BroadcastShape shape = BroadcastShape::of(a.shape().begin(), a.dims(), b.shape().begin(), b.dims());
    choose(k)(context, shape, a.data<T>(), b.data<T>(), y.data<T>());
  });
  return y;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor y = binary("add", a, b, [](const auto& k) { return k.add; });
  if (!wants_grad({a, b})) return y;
  record("add", {a, b}, {y},
         [want_da = wants_grad(a), want_db = wants_grad(b), a_shape = a.shape(),
          b_shape = b.shape()](const TensorList& dy) -> TensorList {
           return {want_da ? sum_to(dy[0], a_shape) : Tensor(), want_db ? sum_to(dy[0], b_shape) : Tensor()};
         });
  return y;
}

Tensor sub(const Tensor& a, const Tensor& b) {
  Tensor y = binary("sub", a, b, [](const auto& k) { return k.sub; });
  if (!wants_grad({a, b})) return y;
  record("sub", {a, b}, {y},
         [want_da = wants_grad(a), want_db = wants_grad(b), a_shape = a.shape(),
          b_shape = b.shape()](const TensorList& dy) -> TensorList {
           return {want_da ? sum_to(dy[0], a_shape) : Tensor(), want_db ? -sum_to(dy[0], b_shape) : Tensor()};
         });
  return y;
}

Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor y = binary("mul", a, b, [](const auto& k) { return k.mul; });
  if (!wants_grad({a, b})) return y;
  const bool want_da = wants_grad(a), want_db = wants_grad(b);
  record("mul", {a, b}, {y},
         [=, a_shape = a.shape(), b_shape = b.shape(), a = want_db ? a : Tensor(),
          b = want_da ? b : Tensor()](const TensorList& dy) -> TensorList {
           Tensor da, db;
           if (want_da) da = sum_to(dy[0] * b, a_shape);
           if (want_db) db = sum_to(dy[0] * a, b_shape);
           return {da, db};
         });
  return y;
}

// d(a / b) = da / b - (a / b) db / b
Tensor div(const Tensor& a, const Tensor& b) {
  Tensor y = binary("div", a, b, [](const auto& k) { return k.div; });
  if (!wants_grad({a, b})) return y;
  const bool want_da = wants_grad(a), want_db = wants_grad(b);
  record("div", {a, b}, {y},
         [=, a_shape = a.shape(), y = want_db ? y.detach() : Tensor()](const TensorList& dy) -> TensorList {
           const Tensor quotient = dy[0] / b;
           Tensor da, db;
           if (want_da) da = sum_to(quotient, a_shape);
           if (want_db) db = -sum_to(quotient * y, b.shape());
           return {da, db};
         });
  return y;
}

}  // namespace dnn
