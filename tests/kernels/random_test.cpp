#include <kernels/philox.h>

#include "rows.h"

namespace dnn::test {
namespace {

const auto kUniform = &Kernels<float>::fill_uniform;
const auto kNormal = &Kernels<float>::fill_normal;

const std::vector<int64_t> kCounts{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100003};
const std::vector<RandomState> kStates{{0, 0}, {1, 0}, {0, 1}, {0x123456789ABCDEF0, 0xFEDCBA9876543210}};

std::vector<uint32_t> words(const PhiloxBlock& block) { return {block.word, block.word + 4}; }

TEST_CASE("philox: the known answers of Random123", "[random]") {
  CHECK(words(philox4x32({{0, 0, 0, 0}}, 0, 0)) ==
        std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const uint32_t ones = 0xffffffff;
  CHECK(words(philox4x32({{ones, ones, ones, ones}}, ones, ones)) ==
        std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words(philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0)) ==
        std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  static_assert(philox4x32({{0, 0, 0, 0}}, 0, 0).word[0] == 0x6627e8d5);
}

TEST_CASE("philox: block and call are the counter, the seed is the key", "[random]") {
  const RandomState state{0x299f31d0a4093822, 0x0370734413198a2e};
  CHECK(words(philox_block(state, 0x85a308d3243f6a88)) ==
        std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  CHECK(philox_uniform(0) == 0.0f);
  CHECK(philox_uniform(0xffffffff) == 1 - 0x1p-24f);
  CHECK(philox_positive_uniform(0) == 0x1p-24f);
  CHECK(philox_positive_uniform(0xffffffff) == 1.0f);
  const PhiloxBlock block{{0x11112222, 0x33334444, 0x55556666, 0x77778888}};
  CHECK(philox_half(block, 0) == 0x2222);
  CHECK(philox_half(block, 1) == 0x1111);
  CHECK(philox_half(block, 6) == 0x8888);
  CHECK(philox_half(block, 7) == 0x7777);
  CHECK(dropout_threshold(0) == 0);
  CHECK(dropout_threshold(0.5f) == 32768);
  CHECK(dropout_threshold(0.4f) == 26214);
  CHECK(dropout_threshold(1) == 65536);
}

TEST_CASE("fill_uniform: values by hand", "[random]") {
  // The first block of seed 0 and call 0 is the first known answer; the upper 24 bits of its words over 2^24.
  for (const Backend* row : rows_with(kUniform)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(4);
    row->f32.fill_uniform(context, 4, 0, 1, {0, 0}, y.get());
    check_values<float>(
        y, {0x6627e8 / 16777216.0f, 0xe169c5 / 16777216.0f, 0xbc57ac / 16777216.0f, 0x9b00db / 16777216.0f});
    CHECK(y[0] == 0x6627e8 / 16777216.0f);
  }
}

TEST_CASE("fill_uniform: rounding does not reach the upper end", "[random]") {
  const float end = std::nextafter(1.0f, 2.0f);
  for (const Backend* row : rows_with(kUniform)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(1000);
    row->f32.fill_uniform(context, 1000, 1, end, {0, 0}, y.get());
    for (int64_t i = 0; i < 1000; ++i) REQUIRE(y[i] == 1.0f);
    row->f32.fill_uniform(context, 1000, 2, 2, {0, 0}, y.get());
    for (int64_t i = 0; i < 1000; ++i) REQUIRE(y[i] == 2.0f);
  }
}

TEST_CASE("fill_uniform: the same bits on every row", "[random]") {
  for (const Backend* row : rows_with(kUniform)) {
    for (const RandomState& state : kStates) {
      for (const int64_t count : kCounts) {
        INFO(row->name << ", " << count << " values, seed " << state.seed << ", call " << state.call);
        Context context(*row), reference(reference_row());
        Buffer<float> y(count), expected(count);
        row->f32.fill_uniform(context, count, -0.3f, 1.7f, state, y.get());
        reference_row().f32.fill_uniform(reference, count, -0.3f, 1.7f, state, expected.get());
        y.check_guards();
        REQUIRE((y.values() == expected.values()));
        for (int64_t i = 0; i < count; ++i) REQUIRE((y[i] >= -0.3f && y[i] < 1.7f));
      }
    }
  }
}

TEST_CASE("fill_uniform: mean and variance; seed and call change every value", "[random]") {
  const int64_t count = 1000000;
  for (const Backend* row : rows_with(kUniform)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(count), other(count);
    row->f32.fill_uniform(context, count, 2, 5, {42, 3}, y.get());
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; ++i) {
      sum += y[i];
      squares += (y[i] - 3.5) * (y[i] - 3.5);
    }
    CHECK(std::abs(sum / count - 3.5) < 0.005);
    CHECK(std::abs(squares / count - 9.0 / 12) < 0.005);
    for (const RandomState& state : {RandomState{43, 3}, RandomState{42, 4}, RandomState{42 + (1ull << 32), 3},
                                     RandomState{42, 3 + (1ull << 32)}}) {
      row->f32.fill_uniform(context, count, 2, 5, state, other.get());
      int64_t equal = 0;
      for (int64_t i = 0; i < count; ++i) equal += y[i] == other[i];
      CHECK(equal < 10);
    }
  }
}

TEST_CASE("fill_normal: every row against the reference", "[random]") {
  for (const Backend* row : rows_with(kNormal)) {
    for (const RandomState& state : kStates) {
      for (const int64_t count : kCounts) {
        INFO(row->name << ", " << count << " values, seed " << state.seed << ", call " << state.call);
        Context context(*row), reference(reference_row());
        Buffer<float> y(count);
        Buffer<double> y64(count);
        row->f32.fill_normal(context, count, 0.5f, 2, state, y.get());
        reference_row().f64.fill_normal(reference, count, 0.5, 2, state, y64.get());
        // r is at most sqrt(-2 ln 2^-24) = 5.8; the angle's rounding acts as one of that size.
        check_close(y, y64, 0.5 + 2 * 5.8, 1);
      }
    }
  }
}

TEST_CASE("fill_normal: mean, deviation and tails", "[random]") {
  const int64_t count = 1000000;
  for (const Backend* row : rows_with(kNormal)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(count);
    row->f32.fill_normal(context, count, -1, 0.5f, {7, 11}, y.get());
    double sum = 0, squares = 0;
    int64_t within_1 = 0, within_3 = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double z = (y[i] + 1) / 0.5;
      sum += z;
      squares += z * z;
      within_1 += std::abs(z) < 1;
      within_3 += std::abs(z) < 3;
    }
    CHECK(std::abs(sum / count) < 0.005);
    CHECK(std::abs(squares / count - 1) < 0.01);
    CHECK(std::abs(static_cast<double>(within_1) / count - 0.6827) < 0.003);
    CHECK(std::abs(static_cast<double>(within_3) / count - 0.9973) < 0.0005);
  }
}

}  // namespace
}  // namespace dnn::test
