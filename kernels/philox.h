#pragma once
#include <cstdint>

#include <kernels/host_device.h>
#include <kernels/random_state.h>

// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011): ten rounds
// turn a counter of four words and a key of two into four random words. Block b of a random call has the counter (low
// and high word of b, low and high word of the call) and the key (low and high word of the seed).
namespace dnn {

struct PhiloxBlock {
  uint32_t word[4];
};

DNN_HOST_DEVICE constexpr PhiloxBlock philox4x32(PhiloxBlock counter, uint32_t key_0, uint32_t key_1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product_0 = uint64_t{0xD2511F53} * counter.word[0];
    const uint64_t product_1 = uint64_t{0xCD9E8D57} * counter.word[2];
    counter = {{static_cast<uint32_t>(product_1 >> 32) ^ counter.word[1] ^ key_0, static_cast<uint32_t>(product_1),
                static_cast<uint32_t>(product_0 >> 32) ^ counter.word[3] ^ key_1, static_cast<uint32_t>(product_0)}};
    key_0 += 0x9E3779B9;  // the golden ratio
    key_1 += 0xBB67AE85;  // sqrt(3) - 1
  }
  return counter;
}

DNN_HOST_DEVICE constexpr PhiloxBlock philox_block(RandomState state, uint64_t block) {
  return philox4x32({{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                      static_cast<uint32_t>(state.call), static_cast<uint32_t>(state.call >> 32)}},
                    static_cast<uint32_t>(state.seed), static_cast<uint32_t>(state.seed >> 32));
}

// fill_uniform: element i has word i % 4 of block i / 4; u is in [0, 1), a multiple of 2^-24.
DNN_HOST_DEVICE constexpr float philox_uniform(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

// fill_normal: elements 4b and 4b + 1 are made of words 0 and 1 of block b, the next two of words 2 and 3, by Box and
// Muller: r cos(2 pi u2) and r sin(2 pi u2) with r = sqrt(-2 ln u1). u1 is in (0, 1] and comes from the even word by
// this function, u2 from the odd one by philox_uniform.
DNN_HOST_DEVICE constexpr float philox_positive_uniform(uint32_t word) {
  return static_cast<float>((word >> 8) + 1) * 0x1p-24f;
}

// dropout: element i has the 16 bits i % 8 of block i / 8, the lower half of a word before the upper one, and is kept
// where they are at least dropout_threshold(p).
DNN_HOST_DEVICE constexpr uint32_t philox_half(const PhiloxBlock& block, int half) {
  return block.word[half / 2] >> (half % 2 * 16) & 0xFFFF;
}

// p * 65536, rounded: 65536 drops all.
DNN_HOST_DEVICE constexpr uint32_t dropout_threshold(float p) {
  return (static_cast<uint32_t>(double{p} * 131072) + 1) / 2;
}

}  // namespace dnn
