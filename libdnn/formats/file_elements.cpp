#include <libdnn/formats/file_elements.h>

#include <kernels/backend.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace dnn {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and copied as they are");

Shape file_shape(const std::vector<int64_t>& sizes, const std::string& where) {
  constexpr int kLargestElement = 8;
  int64_t bytes = kLargestElement;
  bool fits = sizes.size() <= static_cast<size_t>(kMaxDims);
  for (const int64_t size : sizes) {
    fits = fits && size >= 0 && size <= std::numeric_limits<int>::max() && !__builtin_mul_overflow(bytes, size, &bytes);
  }
  if (!fits)
    throw Error(fmt::format("{} has a shape that no tensor can have; got ({})", where, fmt::join(sizes, ", ")));
  return Shape(std::vector<int>(sizes.begin(), sizes.end()));
}

Tensor from_int64(std::span<const int64_t> values, const Shape& shape, const std::string& where) {
  Tensor tensor(shape, DType::int32, "cpu");
  std::transform(values.begin(), values.end(), tensor.data<int32_t>(), [&](int64_t value) {
    if (value != static_cast<int32_t>(value)) {
      throw Error(fmt::format("{} holds an int64 that is no int32; got {}", where, value));
    }
    return static_cast<int32_t>(value);
  });
  return tensor;
}

Tensor on_host(const Tensor& tensor) {
  return tensor.device().backend().device.host_memory ? tensor : tensor.detach().to("cpu");
}

}  // namespace dnn
