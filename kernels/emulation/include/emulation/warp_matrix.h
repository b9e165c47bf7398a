#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include <emulation/atomics.h>
#include <emulation/device.h>

// Products of small matrices whose elements the lanes of a warp hold. Which lane holds what is from the PTX ISA,
// "Matrix Fragments for mma", here as functions from row and column to lane and register.
namespace emu {

inline float tf32_value(uint32_t bits) { return std::bit_cast<float>(bits & 0xFFFFE000u); }  // the rest is ignored
inline float bf16_value(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
inline float f16_value(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3FFu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float size = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -size : size;
}

// What the lanes brought: registers of A, then of B.
class Fragments {
 public:
  Fragments(const WarpMeeting* meeting, int registers_of_a) : meeting_(meeting), registers_of_a_(registers_of_a) {}

  uint32_t word(int lane, int index) const {
    uint32_t result;
    std::memcpy(&result, meeting_->brought[lane] + 4 * index, 4);
    return result;
  }
  // Elements of 32 bits, K of 8.
  uint32_t a32(int row, int k) const { return word(row % 8 * 4 + k % 4, row / 8 + k / 4 * 2); }
  uint32_t b32(int k, int column) const { return word(column * 4 + k % 4, registers_of_a_ + k / 4); }
  // Elements of 16 bits, two in a register, K of 8 or 16.
  uint16_t a16(int row, int k) const { return half(word(row % 8 * 4 + k % 8 / 2, row / 8 + k / 8 * 2), k); }
  uint16_t b16(int k, int column) const { return half(word(column * 4 + k % 8 / 2, registers_of_a_ + k / 8), k); }

 private:
  static uint16_t half(uint32_t pair, int k) { return static_cast<uint16_t>(pair >> (k % 2 * 16)); }

  const WarpMeeting* meeting_;
  int registers_of_a_;
};

// d = a * b + c for 16 x 8 elements, of which each lane holds four. product(fragments, row, k, column) is one term.
template <int kDepth, int kRegistersOfA, int kRegistersOfB, class Product>
EMU_UNCHECKED void warp_multiply(float* d, const unsigned* a, const unsigned* b, const float* c, const char* operation,
                                 Location at, Product product) {
  uint32_t registers[kRegistersOfA + kRegistersOfB];
  std::memcpy(registers, a, kRegistersOfA * 4);
  std::memcpy(registers + kRegistersOfA, b, kRegistersOfB * 4);
  WarpMeeting* const meeting = meet(~0u, registers, sizeof registers, operation, at);
  const Fragments fragments(meeting, kRegistersOfA);
  for (int i = 0; i < 4; ++i) {
    const int row = lane() / 4 + i / 2 * 8, column = lane() % 4 * 2 + i % 2;
    float sum = c[i];
    for (int k = 0; k < kDepth; ++k) sum += product(fragments, row, k, column);
    d[i] = sum;
  }
  leave(meeting);
}

inline void warp_multiply_tf32(float* d, const unsigned* a, const unsigned* b, const float* c, Location at) {
  warp_multiply<8, 4, 2>(d, a, b, c, "mma.m16n8k8.tf32", at, [](const Fragments& in, int row, int k, int column) {
    return tf32_value(in.a32(row, k)) * tf32_value(in.b32(k, column));
  });
}

inline void warp_multiply_bf16(float* d, const unsigned* a, const unsigned* b, const float* c, Location at) {
  warp_multiply<16, 4, 2>(d, a, b, c, "mma.m16n8k16.bf16", at, [](const Fragments& in, int row, int k, int column) {
    return bf16_value(in.a16(row, k)) * bf16_value(in.b16(k, column));
  });
}

inline void warp_multiply_f16(float* d, const unsigned* a, const unsigned* b, const float* c, Location at) {
  warp_multiply<16, 4, 2>(d, a, b, c, "mma.m16n8k16.f16", at, [](const Fragments& in, int row, int k, int column) {
    return f16_value(in.a16(row, k)) * f16_value(in.b16(k, column));
  });
}

inline void warp_multiply_f16_k8(float* d, const unsigned* a, const unsigned* b, const float* c, Location at) {
  warp_multiply<8, 2, 1>(d, a, b, c, "mma.m16n8k8.f16", at, [](const Fragments& in, int row, int k, int column) {
    return f16_value(in.a16(row, k)) * f16_value(in.b16(k, column));
  });
}

// Four matrices of 8 x 8 elements of 16 bits. Lane 8 i + r says where row r of matrix i begins; lane l gets of row l /
// 4 the elements 2 (l % 4) and the next.
EMU_NOTED void warp_load_matrices(unsigned* registers, const void* row, Location at) {
  note_access(row, 16, AccessKind::load, EMU_CALLER);
  WarpMeeting* const meeting = meet(~0u, &row, sizeof row, "ldmatrix.x4", at);
  for (int i = 0; i < 4; ++i) {
    const char* begin;
    std::memcpy(&begin, meeting->brought[8 * i + lane() / 4], sizeof begin);
    std::memcpy(registers + i, begin + lane() % 4 * 4, 4);
  }
  leave(meeting);
}

}  // namespace emu
