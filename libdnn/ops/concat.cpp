#include <libdnn/ops/concat.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/ops/squeeze.h>
#include <libdnn/ops/strided.h>

namespace dnn {
namespace {

// How `part` lies in `whole`, `offset` places along `dim`: from part to whole, and where it begins there.
struct Place {
  StridedShape into;
  int64_t begin;

  Place(const Shape& part, const Shape& whole, int dim, int offset)
      : into(strided_shape(part, dense_strides(part), dense_strides(whole))), begin(offset * into.y_stride[dim]) {}
};

Tensor join(const char* op, const TensorList& parts, const Shape& shape, int dim) {
  Tensor whole(shape, parts[0].dtype(), parts[0].device());
  int offset = 0;
  for (const Tensor& part : parts) {
    const Place place(part.shape(), shape, dim, offset);
    copy_strided(op, place.into, part, 0, whole, place.begin);
    offset += part.size(dim);
  }
  return whole;
}

TensorList cut(const char* op, const Tensor& whole, const std::vector<int>& sizes, int dim) {
  TensorList parts;
  int offset = 0;
  for (const int size : sizes) {
    parts.emplace_back(with_size(whole.shape(), dim, size), whole.dtype(), whole.device());
    const Place place(parts.back().shape(), whole.shape(), dim, offset);
    copy_strided(op, reversed(place.into), whole, place.begin, parts.back(), 0);
    offset += size;
  }
  return parts;
}

}  // namespace

Tensor concat(const TensorList& parts, int dim) {
  if (parts.empty()) throw Error("[concat] needs at least one tensor; got none");
  const Shape& first = parts[0].shape();
  dim = first.normalize(dim, "concat");
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
  dim = x.shape().normalize(dim, "split");
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

TensorList split(const Tensor& x, int size, int dim) {
  if (size < 1) throw Error(fmt::format("[split] the parts' size must be at least 1; got {}", size));
  const int all = x.size(dim);
  std::vector<int> sizes(static_cast<size_t>(all / size), size);
  if (all % size != 0 || all == 0) sizes.push_back(all % size);
  return split(x, sizes, dim);
}

TensorList chunk(const Tensor& x, int chunks, int dim) {
  if (chunks < 1) throw Error(fmt::format("[chunk] chunks must be at least 1; got {}", chunks));
  const int all = x.size(dim), size = all / chunks + (all % chunks != 0 ? 1 : 0);
  return size == 0 ? split(x, std::vector<int>(static_cast<size_t>(chunks), 0), dim) : split(x, size, dim);
}

Tensor stack(const TensorList& parts, int dim) {
  TensorList rows;
  for (const Tensor& part : parts) {
    if (!(part.shape() == parts[0].shape())) {
      throw Error(
          fmt::format("[stack] shapes must be equal; got {} and {}", parts[0].shape().str(), part.shape().str()));
    }
    rows.push_back(unsqueeze(part, dim));
  }
  if (rows.empty()) throw Error("[stack] needs at least one tensor; got none");
  return concat(rows, dim);
}

}  // namespace dnn
