#include <kernels/cuda/kernels.h>
#include <kernels/cuda/vectors.cuh>

namespace dnn::cuda {

// Every element the same: y[i] = value, with stores of 16 bytes. `pair` is as many values as fill half of them.
template <class T>
__global__ void __launch_bounds__(kBlock) fill_kernel(VectorParts parts, T value, uint64_t pair, T* y) {
  const auto low = static_cast<unsigned>(pair), high = static_cast<unsigned>(pair >> 32);
  for_each_part<sizeof(uint4) / sizeof(T)>(
      parts, [&](int64_t i) { *reinterpret_cast<uint4*>(y + i) = make_uint4(low, high, low, high); },
      [&](int64_t i) { y[i] = value; });  // emu: less than a vector at either end
}

namespace {

template <class T>
void run(const Context& context, int64_t count, uint64_t bits, void* y) {
  const auto value = static_cast<T>(bits);
  uint64_t pair = 0;
  for (size_t i = 0; i < sizeof pair; i += sizeof(T)) pair |= static_cast<uint64_t>(value) << (8 * i);
  const VectorParts parts = vector_parts<sizeof(uint4) / sizeof(T)>(count, sizeof(T), {y});
  launch(context, "fill", fill_kernel<T>, blocks_for(parts.threads()), kBlock, 0, parts, value, pair,
         static_cast<T*>(y));
}

}  // namespace

void fill(Context& context, int element_size, int64_t count, uint64_t bits, void* y) {
  switch (element_size) {
    case 1:
      return run<uint8_t>(context, count, bits, y);
    case 2:
      return run<uint16_t>(context, count, bits, y);
    case 4:
      return run<uint32_t>(context, count, bits, y);
    default:
      return run<uint64_t>(context, count, bits, y);
  }
}

}  // namespace dnn::cuda
