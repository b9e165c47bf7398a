// Every element the same.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/fill.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <bool kStream>
void fill_loop(int64_t count, float word, float* y) {
  for_vectors(count, [=](auto d, int64_t i) HWY_ATTR { store<kStream>(hn::Set(d, word), d, y + i); });
  flush<kStream>();
}

void fill_words(bool stream, int64_t count, float word, float* y) {
  stream ? fill_loop<true>(count, word, y) : fill_loop<false>(count, word, y);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void fill(Context& context, int element_size, int64_t count, uint64_t bits, void* y) {
  if (count == 0) return;
  for (int size = element_size; size < 8; size *= 2) {  // the element as often as 8 bytes hold it
    bits &= (uint64_t{1} << (8 * size)) - 1;
    bits |= bits << (8 * size);
  }
  const int64_t bytes = count * element_size;
  float words[2];
  std::memcpy(words, &bits, sizeof bits);
  if (static_cast<uint32_t>(bits) != static_cast<uint32_t>(bits >> 32)) {
    const int64_t chunks = chunk_count(count, kChunkElements);
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      const auto [begin, end] = chunk_range(count, chunks, chunk);
      std::fill(static_cast<uint64_t*>(y) + begin, static_cast<uint64_t*>(y) + end, bits);
    });
    return;
  }
  const auto chunk_loop = DNN_PER_ISA(fill_words)[context];
  constexpr int64_t kWord = sizeof(float);
  float* const to = static_cast<float*>(y);
  const int64_t whole = bytes / kWord;
  const int64_t chunks = chunk_count(whole, kChunkElements);
  const bool stream = worth_streaming(to, whole);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const auto [begin, end] = line_range(whole, chunks, chunk);
    chunk_loop(stream, end - begin, words[0], to + begin);
  });
  std::memcpy(to + whole, words, static_cast<size_t>(bytes % kWord));
}

}  // namespace dnn::cpu
#endif
