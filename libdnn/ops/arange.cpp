#include <libdnn/ops/arange.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include <kernels/convert.h>

namespace dnn {

Tensor arange(double start, double end, double step) {
  const auto whole = [](double x) { return std::trunc(x) == x; };
  const bool integers = whole(start) && whole(end) && whole(step);
  return arange(start, end, step, integers ? DType::int64 : DType::float32);
}

Tensor arange(double start, double end, double step, DType dtype, const Device& device) {
  const double count = std::ceil((end - start) / step);
  if (!(std::isfinite(start) && std::isfinite(end) && step != 0 && count >= 0 &&
        count <= std::numeric_limits<int>::max())) {
    throw Error(fmt::format("[arange] the step must lead from start to end; got {} to {} by {}", start, end, step));
  }
  const int size = static_cast<int>(count);
  return with_type(dtype, [&]<class T>(T) {
    std::vector<T> values(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) values[i] = convert_element<T>(start + i * step);
    return from_vector(values, {size}, device);
  });
}

}  // namespace dnn
