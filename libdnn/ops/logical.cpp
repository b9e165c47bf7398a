#include <libdnn/ops/logical.h>

#include <libdnn/ops/binary.h>
#include <libdnn/ops/compare.h>
#include <libdnn/ops/reduced_dims.h>

namespace dnn {
namespace {

// 1 where x counts as true, else 0, in a type that kernels compute.
Tensor truth(const Tensor& x) { return (x.dtype() == DType::boolean ? x : ne(x.detach(), 0)).to(DType::float32); }

Tensor reduced(const char* op, ReduceOp kind, const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  const ReducedDims reduction(op, x.shape(), dims);
  return gt(reduce(op, kind, truth(x), reduction.shape(), reduction.result(keep_dims), 1), 0);
}

}  // namespace

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return binary("logical_and", BinaryOp::mul, truth(a), truth(b)).to(DType::boolean);
}
Tensor logical_or(const Tensor& a, const Tensor& b) {
  return binary("logical_or", BinaryOp::add, truth(a), truth(b)).to(DType::boolean);
}
Tensor logical_xor(const Tensor& a, const Tensor& b) { return ne(truth(a), truth(b)); }
Tensor logical_not(const Tensor& x) { return eq(truth(x), 0); }

Tensor all(const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  return reduced("all", ReduceOp::min, x, dims, keep_dims);
}

Tensor any(const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  return reduced("any", ReduceOp::max, x, dims, keep_dims);
}

}  // namespace dnn
