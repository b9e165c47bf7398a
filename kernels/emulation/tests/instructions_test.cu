#include <emulation/instructions.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "runtime/host_support.h"

using namespace emu_test;

namespace {

// A kernel for one product of each kind. The elements go to their lanes as the tables of the PTX ISA have it, element
// after element: the opposite way to the model's, which goes from row and column to lane and register.
__global__ void tf32(const float* a, const float* b, float* d) {
  const int group = threadIdx.x >> 2, in_group = threadIdx.x % 4;
  unsigned as[4], bs[2];
  for (int i = 0; i < 4; ++i) {
    const int row = i == 0 || i == 2 ? group : group + 8, column = i < 2 ? in_group : in_group + 4;
    as[i] = to_tf32(a[row * 8 + column]);
  }
  for (int i = 0; i < 2; ++i) bs[i] = to_tf32(b[(i == 0 ? in_group : in_group + 4) * 8 + group]);
  float c[4] = {1, 1, 1, 1};
  mma_m16n8k8_tf32(c, as, bs, c);
  for (int i = 0; i < 4; ++i) d[(i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1)] = c[i];
}

enum class Kind { bf16, f16, f16_k8 };

template <Kind kKind>
__global__ void half(const uint16_t* a, const uint16_t* b, float* d) {
  constexpr int kDepth = kKind == Kind::f16_k8 ? 8 : 16;
  const int group = threadIdx.x >> 2, in_group = threadIdx.x % 4;
  unsigned as[4] = {}, bs[2] = {};
  for (int i = 0; i < kDepth / 2; ++i) {
    const int row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
    const int column = in_group * 2 + (i & 1) + (i < 4 ? 0 : 8);
    as[i / 2] |= static_cast<unsigned>(a[row * kDepth + column]) << (16 * (i & 1));
  }
  for (int i = 0; i < kDepth / 4; ++i) {
    const int row = in_group * 2 + (i & 1) + (i < 2 ? 0 : 8);
    bs[i / 2] |= static_cast<unsigned>(b[row * 8 + group]) << (16 * (i & 1));
  }
  const float c[4] = {1, 1, 1, 1};
  float out[4];
  if (kKind == Kind::bf16) mma_m16n8k16_bf16(out, as, bs, c);
  if (kKind == Kind::f16) mma_m16n8k16_f16(out, as, bs, c);
  if (kKind == Kind::f16_k8) mma_m16n8k8_f16(out, as, bs, c);
  for (int i = 0; i < 4; ++i) d[(i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1)] = out[i];
}

// The four 8 x 8 parts of a 16 x 16 matrix, in the order in which a product takes them.
__global__ void through_ldmatrix(const uint16_t* a, const uint16_t* b, float* d) {
  EMU_SHARED(uint16_t, tile, [16][16]);
  const int lane = threadIdx.x, group = lane >> 2, in_group = lane % 4;
  for (int i = lane; i < 256; i += 32) tile[i / 16][i % 16] = a[i];
  __syncwarp();
  unsigned as[4], bs[2] = {};
  ldmatrix_x4(as, &tile[lane % 16][lane / 16 * 8]);
  for (int i = 0; i < 4; ++i) {
    const int row = in_group * 2 + (i & 1) + (i < 2 ? 0 : 8);
    bs[i / 2] |= static_cast<unsigned>(b[row * 8 + group]) << (16 * (i & 1));
  }
  const float c[4] = {1, 1, 1, 1};
  float out[4];
  mma_m16n8k16_f16(out, as, bs, c);
  for (int i = 0; i < 4; ++i) d[(i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1)] = out[i];
}

template <bool kWait>
__global__ void copy_async(const float4* in, float4* out) {
  EMU_SHARED(float4, tile, [2][32]);
  const int i = threadIdx.x;
  cp_async_16(&tile[0][i], in + i);
  cp_async_commit();
  cp_async_16(&tile[1][i], in + 32 + i, i % 2 * 8);
  cp_async_commit();
  cp_async_wait<1>();
  out[i] = tile[0][i];
  if (kWait) cp_async_wait<0>();
  out[32 + i] = tile[1][i];
}

__global__ void copy_small(const float* in, float* out) {
  EMU_SHARED(float, tile, [6]);
  cp_async_4(&tile[0], in);
  cp_async_8(&tile[2], in + 2);
  cp_async_4(&tile[4], in + 4, 0);
  cp_async_commit();
  cp_async_wait<0>();
  for (int i = 0; i < 6; ++i) out[i] = i == 1 || i == 5 ? 0 : tile[i];
}

__global__ void copy_misaligned(const float* in) {
  EMU_SHARED(float, tile, [8]);
  cp_async_16(tile, in + 1);
}

float element(int i) { return static_cast<float>(i * 37 % 61 - 30) / 8; }  // exact in all of the types

uint16_t bf16_of(float x) { return static_cast<uint16_t>(__float_as_uint(x) >> 16); }

uint16_t f16_of(float x) {
  if (x == 0) return 0;
  const unsigned bits = __float_as_uint(x);
  return static_cast<uint16_t>((bits >> 16 & 0x8000u) | (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 0x3FF));
}

void check_product(const std::vector<float>& d, int depth) {
  REQUIRE(d.size() == 128);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      float sum = 1;
      for (int k = 0; k < depth; ++k) sum += element(row * depth + k) * element(500 + k * 8 + column);
      INFO("row " << row << ", column " << column);
      REQUIRE(d[static_cast<size_t>(row * 8 + column)] == sum);
    }
  }
}

template <class T, class K, class F>
void run_product(K kernel, int depth, F convert) {
  std::vector<T> a, b;
  for (int i = 0; i < 16 * depth; ++i) a.push_back(convert(element(i)));
  for (int i = 0; i < 8 * depth; ++i) b.push_back(convert(element(500 + i)));
  T* const device_a = to_device(a);
  T* const device_b = to_device(b);
  float* const d = device_array<float>(128);
  REQUIRE(launch(kernel, 1, 32, 0, nullptr, device_a, device_b, d) == cudaSuccess);
  check_product(to_host(d, 128), depth);
  CHECK(fault_count() == 0);
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(d);
}

}  // namespace

TEST_CASE("instructions: products of matrices, with the elements where the PTX ISA has them") {
  run_product<float>(tf32, 8, [](float x) { return x; });
  run_product<uint16_t>(half<Kind::bf16>, 16, bf16_of);
  run_product<uint16_t>(half<Kind::f16>, 16, f16_of);
  run_product<uint16_t>(half<Kind::f16_k8>, 8, f16_of);
  run_product<uint16_t>(through_ldmatrix, 16, f16_of);
}

TEST_CASE("instructions: TF32 is rounded to nearest, ties away from 0") {
  CHECK(to_tf32(1.0f) == 0x3F800000u);
  CHECK(to_tf32(__uint_as_float(0x3F800FFFu)) == 0x3F800000u);
  CHECK(to_tf32(__uint_as_float(0x3F801000u)) == 0x3F802000u);
  CHECK(to_tf32(__uint_as_float(0xBF801000u)) == 0xBF802000u);
  CHECK(to_tf32(__uint_as_float(0x7F800000u)) == 0x7F800000u);
  CHECK(emu::tf32_value(0x3F801FFFu) == 1.0f);
  CHECK(emu::f16_value(0x3C00) == 1.0f);
  CHECK(emu::f16_value(0x8001) == -0x1p-24f);
  CHECK(emu::f16_value(0x7BFF) == 65504.0f);
  CHECK(std::isinf(emu::f16_value(0x7C00)));
  CHECK(emu::bf16_value(0xC000) == -2.0f);
}

TEST_CASE("instructions: a copy that nobody waits for has not come") {
  std::vector<float4> in;
  for (int i = 0; i < 64; ++i) in.push_back({element(i), element(i + 1), element(i + 2), element(i + 3)});
  float4* const device_in = to_device(in);
  float4* const out = device_array<float4>(64);
  launch(copy_async<true>, 1, 32, 0, nullptr, device_in, out);
  auto result = to_host(out, 64);
  for (int i = 0; i < 32; ++i) {
    const size_t k = static_cast<size_t>(i);
    CHECK(std::memcmp(&result[k], &in[k], 16) == 0);
    // Of the even threads nothing, of the odd ones half was copied, and the rest is 0.
    CHECK(result[32 + k].x == (i % 2 ? in[32 + k].x : 0));
    CHECK(result[32 + k].y == (i % 2 ? in[32 + k].y : 0));
    CHECK(result[32 + k].z == 0);
    CHECK(result[32 + k].w == 0);
  }
  CHECK(fault_count() == 0);
  const ExpectFaults expect;  // the checked build has a word for it
  launch(copy_async<false>, 1, 32, 0, nullptr, device_in, out);
  result = to_host(out, 64);
  for (size_t i = 0; i < 32; ++i) {
    CHECK(std::memcmp(&result[i], &in[i], 16) == 0);
    CHECK(std::isnan(result[32 + i].x));
  }
  cudaFree(device_in);
  cudaFree(out);
}

TEST_CASE("instructions: small copies, and misaligned ones") {
  float* const in = to_device(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  float* const out = device_array<float>(6);
  launch(copy_small, 1, 1, 0, nullptr, in, out);
  CHECK(to_host(out, 6) == std::vector<float>{1, 0, 3, 4, 0, 0});
  CHECK(fault_count() == 0);
  const ExpectFaults expect;
  launch(copy_misaligned, 1, 1, 0, nullptr, in);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK_THAT(first_fault(), Catch::Contains("cp.async of 16 bytes from"));
  clear_faults();
  cudaFree(in);
  cudaFree(out);
}
