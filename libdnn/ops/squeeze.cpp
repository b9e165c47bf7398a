#include <libdnn/ops/squeeze.h>

#include <fmt/format.h>

namespace dnn {

Tensor squeeze(const Tensor& x) {
  std::vector<int> sizes;
  for (const int size : x.shape()) {
    if (size != 1) sizes.push_back(size);
  }
  return x.reshape(sizes);
}

Tensor squeeze(const Tensor& x, int dim) {
  dim = x.shape().normalize(dim, "squeeze");
  std::vector<int> sizes(x.shape().begin(), x.shape().end());
  if (sizes[dim] == 1) sizes.erase(sizes.begin() + dim);
  return x.reshape(sizes);
}

Tensor unsqueeze(const Tensor& x, int dim) {
  const int place = dim < 0 ? dim + x.dims() + 1 : dim;
  if (place < 0 || place > x.dims()) {
    throw Error(fmt::format("[unsqueeze] no place {} for a dimension in {}", dim, x.shape().str()));
  }
  std::vector<int> sizes(x.shape().begin(), x.shape().end());
  sizes.insert(sizes.begin() + place, 1);
  return x.reshape(sizes);
}

}  // namespace dnn
