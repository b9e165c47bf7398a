// Philox (see kernels/philox.h) for several blocks at a time. Highway includes it once a target.
#if defined(DNN_PHILOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_PHILOX_INL_H
#undef DNN_PHILOX_INL_H
#else
#define DNN_PHILOX_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include <kernels/philox.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

class PhiloxWords {
 public:
  using D = hn::ScalableTag<uint32_t>;
  static constexpr int kVectors = 4;
  static constexpr int kWords = 4, kBlocks = 1;

  explicit PhiloxWords(RandomState state) : state_(state) {}

  void operator()(uint64_t block, hn::Vec<D> (&words)[kVectors]) const {
    const PhiloxBlock random = philox_block(state_, block);
    for (int i = 0; i < kVectors; ++i) words[i] = hn::Set(D(), random.word[i]);
  }

 private:
  RandomState state_;
};

#else

// The words of kBlocks blocks from `block` on, in their order. A lane of 64 bits works on a block: its word in the
// lower half is multiplied, and what the upper half holds does not matter.
class PhiloxWords {
  using D64 = hn::ScalableTag<uint64_t>;
  using V64 = hn::Vec<D64>;
  static constexpr int kLanes = hn::MaxLanes(D64());
  static constexpr int kSets = 2;  // independent, to fill the multipliers

 public:
  using D = hn::ScalableTag<uint32_t>;
  static constexpr int kVectors = 2 * kSets;
  static constexpr int kBlocks = kSets * kLanes, kWords = 4 * kBlocks;

  explicit PhiloxWords(RandomState state) : call_(state.call) {
    uint32_t key_0 = static_cast<uint32_t>(state.seed), key_1 = static_cast<uint32_t>(state.seed >> 32);
    for (int round = 0; round < kRounds; ++round) {
      std::fill_n(keys_[round][0], kLanes, key_0);
      std::fill_n(keys_[round][1], kLanes, key_1);
      key_0 += 0x9E3779B9;
      key_1 += 0xBB67AE85;
    }
    // Interleaving the words of two neighbouring lanes will give the first half of the blocks from the even lanes.
    for (int lane = 0; lane < kLanes; ++lane) lane_block_[lane] = lane / 2 + lane % 2 * (kLanes / 2);
  }

  HWY_INLINE void operator()(uint64_t block, hn::Vec<D> (&words)[kVectors]) const {
    const D64 d;
    const D d32;
    V64 c[kSets][4];
#pragma GCC unroll 2
    for (int64_t set = 0; set < kSets; ++set) {
      c[set][0] = hn::Add(hn::Set(d, block + set * kLanes), hn::Load(d, lane_block_));
      c[set][1] = hn::ShiftRight<32>(c[set][0]);
      c[set][2] = hn::Set(d, call_);
      c[set][3] = hn::Set(d, call_ >> 32);
    }
    const auto m0 = hn::Set(d32, 0xD2511F53), m1 = hn::Set(d32, 0xCD9E8D57);
#pragma GCC unroll 10
    for (int round = 0; round < kRounds; ++round) {
      const V64 key_0 = hn::Load(d, keys_[round][0]), key_1 = hn::Load(d, keys_[round][1]);
#pragma GCC unroll 2
      for (int64_t set = 0; set < kSets; ++set) {
        const V64 product_0 = hn::MulEven(hn::BitCast(d32, c[set][0]), m0);
        const V64 product_1 = hn::MulEven(hn::BitCast(d32, c[set][2]), m1);
        c[set][0] = hn::Xor(hn::ShiftRight<32>(product_1), hn::Xor(c[set][1], key_0));
        c[set][2] = hn::Xor(hn::ShiftRight<32>(product_0), hn::Xor(c[set][3], key_1));
        c[set][1] = product_1;
        c[set][3] = product_0;
      }
    }
#pragma GCC unroll 2
    for (int64_t set = 0; set < kSets; ++set) {
      const auto join = [&](V64 low, V64 high) HWY_ATTR {
        return hn::BitCast(d, hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(high)), hn::BitCast(d32, low)));
      };
      const V64 first = join(c[set][0], c[set][1]), second = join(c[set][2], c[set][3]);
      words[2 * set] = hn::BitCast(d32, hn::InterleaveLower(d, first, second));
      words[2 * set + 1] = hn::BitCast(d32, hn::InterleaveUpper(d, first, second));
    }
  }

 private:
  static constexpr int kRounds = 10;
  uint64_t call_;
  alignas(64) uint64_t lane_block_[kLanes];
  alignas(64) uint64_t keys_[kRounds][2][kLanes];
};

#endif

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
