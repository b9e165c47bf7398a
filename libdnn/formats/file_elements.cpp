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

void to_truth(const Tensor& tensor) {
  auto* const bytes = static_cast<uint8_t*>(tensor.raw_data());
  std::transform(bytes, bytes + tensor.numel(), bytes, [](uint8_t byte) { return byte != 0; });
}

Tensor on_host(const Tensor& tensor) {
  return tensor.device().backend().device.host_memory ? tensor : tensor.detach().to("cpu");
}

}  // namespace dnn
