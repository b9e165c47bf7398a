#include <libdnn/ops/expand.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/tensor_impl.h>
#include <libdnn/ops/reduce.h>
#include <libdnn/ops/strided.h>

namespace dnn {

Tensor expand(const Tensor& x, const std::vector<int>& sizes) {
  const int missing = static_cast<int>(sizes.size()) - x.dims();
  const auto fail = [&] {
    throw Error(fmt::format("[expand] {} does not broadcast to ({})", x.shape().str(), fmt::join(sizes, ", ")));
  };
  if (missing < 0) fail();
  std::vector<int> wanted = sizes;
  Strides x_stride{};
  const Strides dense = dense_strides(x.shape());
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i) {
    const int from = i - missing;
    int& size = wanted[i];
    if (from < 0) {
      if (size < 0) fail();
    } else if (size == -1 || size == x.size(from)) {
      size = x.size(from);
      if (i < kMaxDims) x_stride[i] = dense[from];
    } else if (x.size(from) != 1) {
      fail();
    }
  }
  const Shape shape(wanted);
  if (shape == x.shape()) return x;
  Tensor y(shape, x.dtype(), x.device());
  copy_strided("expand", strided_shape(shape, x_stride, dense_strides(shape)), x, 0, y, 0);
  if (!wants_grad(x)) return y;
  record("expand", {x}, {y}, [from = x.shape()](const TensorList& dy) -> TensorList { return {sum_to(dy[0], from)}; });
  return y;
}

Tensor repeat(const Tensor& x, const std::vector<int>& times) {
  const int missing = static_cast<int>(times.size()) - x.dims();
  bool fits = missing >= 0;
  for (const int time : times) fits = fits && time >= 0;
  if (!fits) {
    throw Error(fmt::format("[repeat] needs a number of times, not negative, for each dimension of {}; got {}",
                            x.shape().str(), fmt::join(times, ", ")));
  }
  std::vector<int> sizes(times.size(), 1);
  std::copy(x.shape().begin(), x.shape().end(), sizes.begin() + missing);
  Tensor y = x.reshape(sizes);
  // From the last dimension on: what stands before it stays one dimension.
  for (int dim = y.dims() - 1; dim >= 0; --dim) {
    const int64_t size = int64_t{sizes[dim]} * times[dim];
    if (size > std::numeric_limits<int>::max()) {
      throw Error(fmt::format("[repeat] at most 2147483647 along a dimension; got {}", size));
    }
    if (times[dim] == 1) continue;
    int64_t outer = 1, inner = 1;
    for (int i = 0; i <= dim; ++i) (i < dim ? outer : inner) *= sizes[i];
    for (int i = dim + 1; i < y.dims(); ++i) inner *= sizes[i];
    sizes[dim] = static_cast<int>(size);
    const Shape whole(sizes);
    if (outer > std::numeric_limits<int>::max() || inner > std::numeric_limits<int>::max()) {
      throw Error(fmt::format("[repeat] {} has too many elements", x.shape().str()));
    }
    const int rows = static_cast<int>(outer), cols = static_cast<int>(inner);
    y = expand(y.reshape({rows, 1, cols}), {rows, times[dim], cols}).reshape(sizes);
  }
  const bool copied = y.impl()->storage != x.impl()->storage;
  return copied ? y : y.clone();
}

}  // namespace dnn
