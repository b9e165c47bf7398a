#include <libdnn/ops/concat.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>

namespace dnn {
namespace {

// A tensor seen along one dimension: `outer` times `size` times `inner` values.
struct Along {
  int64_t outer = 1;
  int size = 0;
  int64_t inner = 1;

  Along(const Shape& shape, int dim) : size(shape[dim]) {
    for (int i = 0; i < dim; ++i) outer *= shape[i];
    for (int i = dim + 1; i < shape.dims(); ++i) inner *= shape[i];
  }
};

Shape with_size(const Shape& shape, int dim, int size) {
  std::array<int, kMaxDims> sizes{};
  std::copy(shape.begin(), shape.end(), sizes.begin());
  sizes[static_cast<size_t>(dim)] = size;
  return Shape(sizes.data(), shape.dims());
}

// Copies `part` to where it stands in `whole`, `offset` places along `dim`, or from there.
enum class Way { into_whole, out_of_whole };
void copy_part(const char* op, Way way, const Tensor& part, const Tensor& whole, int dim, int offset) {
  const Along one(part.shape(), dim), all(whole.shape(), dim);
  RowsShape rows{one.outer, 0};
  int64_t cols = one.size * one.inner, whole_pitch = all.size * all.inner;
  if (one.outer == 1) {  // one long run: as many short ones, which may be copied in parallel
    rows.rows = one.size;
    cols = whole_pitch = one.inner;
  }
  if (cols > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("[{}] at most 2147483647 values in a row; got {}", op, part.shape().str()));
  }
  rows.cols = static_cast<int>(cols);
  run_kernel(op, {&part, &whole}, [&]<class T>(const Kernels<T>& k, Context& context) {
    T* const all_values = whole.data<T>();  // null on a device without memory
    T* const at = all_values ? all_values + offset * all.inner : nullptr;
    if (way == Way::into_whole) {
      k.copy_rows(context, rows, cols, part.data<T>(), whole_pitch, at);
    } else {
      k.copy_rows(context, rows, whole_pitch, at, cols, part.data<T>());
    }
  });
}

Tensor join(const char* op, const TensorList& parts, const Shape& shape, int dim) {
  Tensor whole(shape, parts[0].dtype(), parts[0].device());
  int offset = 0;
  for (const Tensor& part : parts) {
    copy_part(op, Way::into_whole, part, whole, dim, offset);
    offset += part.size(dim);
  }
  return whole;
}

TensorList cut(const char* op, const Tensor& whole, const std::vector<int>& sizes, int dim) {
  TensorList parts;
  int offset = 0;
  for (const int size : sizes) {
    parts.emplace_back(with_size(whole.shape(), dim, size), whole.dtype(), whole.device());
    copy_part(op, Way::out_of_whole, parts.back(), whole, dim, offset);
    offset += size;
  }
  return parts;
}

}  // namespace

Tensor concat(const TensorList& parts, int dim) {
  if (parts.empty()) throw Error("[concat] needs at least one tensor; got none");
  const Shape& first = parts[0].shape();
  dim = first.normalize(dim);
  std::vector<int> sizes;
  int64_t total = 0;
  for (const Tensor& part : parts) {
    if (part.dims() != first.dims() || !(with_size(part.shape(), dim, first[dim]) == first)) {
      throw Error(fmt::format("[concat] sizes but that of dimension {} must be equal; got {} and {}", dim, first.str(),
                              part.shape().str()));
    }
    sizes.push_back(part.size(dim));
    total += part.size(dim);
  }
  if (total > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("[concat] at most 2147483647 along a dimension; got {}", total));
  }
  Tensor y = join("concat", parts, with_size(first, dim, static_cast<int>(total)), dim);
  if (!wants_grad(parts)) return y;
  record("concat", parts, {y},
         [sizes, dim](const TensorList& dy) -> TensorList { return cut("concat", dy[0], sizes, dim); });
  return y;
}

TensorList split(const Tensor& x, const std::vector<int>& sizes, int dim) {
  dim = x.shape().normalize(dim);
  int64_t total = 0;
  for (const int size : sizes) total += size;
  if (total != x.size(dim)) {
    throw Error(fmt::format("[split] sizes must add up to {} in dimension {} of {}; got {}", x.size(dim), dim,
                            x.shape().str(), fmt::join(sizes, ", ")));
  }
  TensorList parts = cut("split", x, sizes, dim);
  if (!wants_grad(x)) return parts;
  record("split", {x}, parts, [sizes, dim, shape = x.shape()](const TensorList& dy) -> TensorList {
    TensorList known = dy;
    const Tensor* any = nullptr;
    for (const Tensor& part : dy) any = part.defined() ? &part : any;
    for (size_t i = 0; i < dy.size(); ++i) {  // parts that nothing used
      if (!dy[i].defined()) known[i] = zeros(with_size(shape, dim, sizes[i]), any->dtype(), any->device());
    }
    return {join("split", known, shape, dim)};
  });
  return parts;
}

}  // namespace dnn
