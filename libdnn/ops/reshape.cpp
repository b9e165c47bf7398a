#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/counted.h>
#include <libdnn/ops/strided.h>

namespace dnn {
namespace {

// `wanted` with its -1, if any, replaced by what the number of elements leaves.
Shape resolve(const std::vector<int>& wanted, const Shape& from) {
  std::vector<int> sizes = wanted;
  int unknown = -1;
  int64_t known = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != -1) {
      known *= sizes[i];
    } else if (unknown < 0) {
      unknown = static_cast<int>(i);
    } else {
      throw Error(fmt::format("[reshape] only one size may be -1; got ({})", fmt::join(wanted, ", ")));
    }
  }
  if (unknown >= 0 && known > 0 && from.numel() % known == 0 &&
      from.numel() / known <= std::numeric_limits<int>::max()) {
    sizes[static_cast<size_t>(unknown)] = static_cast<int>(from.numel() / known);
    known = from.numel();
    unknown = -1;
  }
  if (known != from.numel() || unknown >= 0) {
    throw Error(fmt::format("[reshape] {} has {} and does not fit ({})", from.str(), counted(from.numel(), "element"),
                            fmt::join(wanted, ", ")));
  }
  return Shape(sizes);
}

}  // namespace

Tensor Tensor::reshape(const std::vector<int>& sizes) const {
  Tensor y = in_shape(*this, resolve(sizes, shape()));
  record("reshape", {*this}, {y},
         [from = shape()](const TensorList& dy) -> TensorList { return {in_shape(dy[0], from)}; });
  return y;
}

}  // namespace dnn
