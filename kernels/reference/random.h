#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>

#include <kernels/backend.h>
#include <kernels/philox.h>

namespace dnn::reference {

// y = low + (high - low) * u, below high where it rounds to that
template <class T>
void fill_uniform(Context&, int64_t count, T low, T high, RandomState state, T* y) {
  const T most = std::max(low, std::nextafter(high, low));
  PhiloxBlock block{};
  for (int64_t i = 0; i < count; ++i) {
    if (i % 4 == 0) block = philox_block(state, static_cast<uint64_t>(i / 4));
    y[i] = std::min<T>(low + (high - low) * philox_uniform(block.word[i % 4]), most);
  }
}

// y = mean + std * z with z = r cos(2 pi u2), r sin(2 pi u2) and r = sqrt(-2 ln u1): Box and Muller, "A note on the
// generation of random normal deviates", 1958. Words 0 and 1 of a block give elements 0 and 1, words 2 and 3 the
// others.
template <class T>
void fill_normal(Context&, int64_t count, T mean, T std, RandomState state, T* y) {
  PhiloxBlock block{};
  for (int64_t i = 0; i < count; ++i) {
    if (i % 4 == 0) block = philox_block(state, static_cast<uint64_t>(i / 4));
    const int first = i % 4 / 2 * 2;
    const double u1 = philox_positive_uniform(block.word[first]), u2 = philox_uniform(block.word[first + 1]);
    const double r = std::sqrt(-2 * std::log(u1)), angle = 2 * std::numbers::pi * u2;
    y[i] = static_cast<T>(mean + std * r * (i % 2 == 0 ? std::cos(angle) : std::sin(angle)));
  }
}

template <class T>
void dropout(Context&, int64_t count, float p, RandomState state, const T* x, T* y) {
  const uint32_t threshold = dropout_threshold(p);
  const T scale = T{1} / (T{1} - p);
  PhiloxBlock block{};
  for (int64_t i = 0; i < count; ++i) {
    if (i % 8 == 0) block = philox_block(state, static_cast<uint64_t>(i / 8));
    y[i] = philox_half(block, i % 8) >= threshold ? x[i] * scale : T{0};
  }
}

}  // namespace dnn::reference
