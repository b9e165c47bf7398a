#include <libdnn/ops/matmul.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/binary.h>
#include <libdnn/ops/reduce.h>
#include <libdnn/ops/squeeze.h>

namespace dnn {
namespace {

Shape with_matrix(const Shape& batch, int rows, int cols) {
  std::vector<int> sizes(batch.begin(), batch.end());
  sizes.push_back(rows);
  sizes.push_back(cols);
  return Shape(sizes);
}

Shape batch_of(const Shape& shape) { return Shape(shape.begin(), shape.dims() - 2); }
Shape batch_of(const Tensor& t) { return batch_of(t.shape()); }

// One side of the product, transposed or not.
struct Side {
  const Tensor& t;
  bool trans;
  int rows() const { return t.size(trans ? -1 : -2); }
  int cols() const { return t.size(trans ? -2 : -1); }
};

template <class T>
T* at(T* data, int64_t offset) {
  return data ? data + offset : nullptr;  // without memory, as on meta
}

// c = op(a) op(b) of the batch's dimensions, to which those of a and b broadcast.
Tensor product(const Side& a, const Side& b, const Shape& batch) {
  Tensor c(with_matrix(batch, a.rows(), b.cols()), a.t.dtype(), a.t.device());
  GemmShape shape{a.rows(), b.cols(), a.cols(), a.trans, b.trans};
  const Shape a_batch = batch_of(a.t), b_batch = batch_of(b.t);
  const BroadcastShape grid = BroadcastShape::of(a_batch.begin(), a_batch.dims(), b_batch.begin(), b_batch.dims());
  const int64_t a_size = int64_t{shape.m} * shape.k, b_size = int64_t{shape.k} * shape.n;
  const int last = grid.dims - 1;
  if (last >= 0) {
    shape.batch = grid.size[last];
    shape.a_stride = grid.a_stride[last] * a_size;
    shape.b_stride = grid.b_stride[last] * b_size;
  }
  run_kernel("matmul", {&a.t, &b.t}, [&]<class T>(const Kernels<T>& k, Context& context) {
    const int64_t size = shape.batch * shape.m * shape.n;  // of one call: the innermost dimension is the kernel's
    const int64_t calls = size > 0 ? c.numel() / size : 0;
    for (int64_t call = 0; call < calls; ++call) {
      int64_t a_at = 0, b_at = 0, rest = call;
      for (int i = last - 1; i >= 0; --i) {
        const int64_t index = rest % grid.size[i];
        rest /= grid.size[i];
        a_at += index * grid.a_stride[i] * a_size;
        b_at += index * grid.b_stride[i] * b_size;
      }
      k.gemm(context, shape, at(a.t.data<T>(), a_at), at(b.t.data<T>(), b_at), {}, at(c.data<T>(), call * size));
    }
  });
  return c;
}

Tensor gradient_of_a(const Shape& a, bool trans_a, const Side& b, const Tensor& dc) {
  if (trans_a) return sum_to(product(b, {dc, true}, batch_of(dc)), a);  // op(b) dc^T
  return sum_to(product({dc, false}, {b.t, !b.trans}, batch_of(dc)), a);
}

bool all_ones(const Shape& batch) {
  return std::all_of(batch.begin(), batch.end(), [](int size) { return size == 1; });
}

Tensor gradient_of_b(const Side& a, const Shape& b, bool trans_b, const Tensor& dc) {
  const Shape batch = batch_of(dc);
  const int64_t rows = batch.numel() * dc.size(-2);
  if (all_ones(batch_of(b)) && !a.trans && batch_of(a.t) == batch && rows <= std::numeric_limits<int>::max()) {
    const int all = static_cast<int>(rows);  // one sum over all of them
    const Tensor all_a = a.t.reshape({all, a.t.size(-1)}), all_dc = dc.reshape({all, dc.size(-1)});
    const Tensor db =
        trans_b ? product({all_dc, true}, {all_a, false}, {}) : product({all_a, true}, {all_dc, false}, {});
    return db.reshape({b.begin(), b.end()});
  }
  if (trans_b) return sum_to(product({dc, true}, a, batch), b);  // dc^T op(a)
  return sum_to(product({a.t, !a.trans}, {dc, false}, batch), b);
}

[[noreturn]] void throw_misfit(const char* what, const Tensor& a, const Tensor& b, bool trans_a, bool trans_b) {
  throw Error(fmt::format("[matmul] {}; got {}{} and {}{}", what, a.shape().str(), trans_a ? " transposed" : "",
                          b.shape().str(), trans_b ? " transposed" : ""));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, bool trans_a, bool trans_b) {
  if (a.dims() == 0 || b.dims() == 0) throw_misfit("operands have a dimension at least", a, b, trans_a, trans_b);
  if ((trans_a && a.dims() == 1) || (trans_b && b.dims() == 1)) {
    throw_misfit("a vector is not transposed", a, b, trans_a, trans_b);
  }
  const Side left{a, trans_a}, right{b, trans_b};
  const int inner = a.dims() == 1 ? a.size(0) : left.cols();
  if ((b.dims() == 1 ? b.size(0) : right.rows()) != inner) {
    throw_misfit("inner sizes must be equal", a, b, trans_a, trans_b);
  }
  if (a.dims() == 1) {
    const Tensor c = matmul(a.reshape({1, inner}), b, false, trans_b);
    return squeeze(c, b.dims() == 1 ? -1 : -2);
  }
  if (b.dims() == 1) {
    const Tensor c = matmul(a, b.reshape({inner, 1}), trans_a, false);
    return squeeze(c, -1);
  }
  const std::optional<Shape> batch = common_shape(batch_of(a), batch_of(b));
  if (!batch) throw_misfit("the dimensions before the matrices must be equal or 1", a, b, trans_a, trans_b);
  Tensor c = product(left, right, *batch);

  if (!wants_grad({a, b})) return c;
  const bool want_da = wants_grad(a), want_db = wants_grad(b);
  // Each gradient needs the other operand; of its own only the shape.
  const Shape a_shape = a.shape(), b_shape = b.shape();
  record("matmul", {a, b}, {c},
         [=, a = want_db ? a : Tensor(), b = want_da ? b : Tensor()](const TensorList& dc) -> TensorList {
           Tensor da, db;
           if (want_da) da = gradient_of_a(a_shape, trans_a, {b, trans_b}, dc[0]);
           if (want_db) db = gradient_of_b({a, trans_a}, b_shape, trans_b, dc[0]);
           return {da, db};
         });
  return c;
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  if (a.dims() != 3 || b.dims() != 3 || a.size(0) != b.size(0)) {
    throw Error(fmt::format("[bmm] takes as many matrices of each, (N, m, k) and (N, k, n); got {} and {}",
                            a.shape().str(), b.shape().str()));
  }
  return matmul(a, b);
}

}  // namespace dnn
