#include <emulation/cuda.h>

#include <catch2/catch.hpp>

// Counts of memory traffic against what a look at the addresses gives. Each test looks at the lines of one kernel, in
// the order of the source.
namespace {

constexpr int kFloats = 4096;

float* zeros() {
  float* data = nullptr;
  cudaMalloc(&data, kFloats * sizeof(float));
  cudaMemset(data, 0, kFloats * sizeof(float));
  return data;
}

// Runs one block. Lines that load come before those that store, if they are on the same line of the source.
template <class... P, class... A>
std::vector<LineTraffic> traffic_of(unsigned threads, void (*kernel)(P...), A... arguments) {
  clear_traffic();
  launch(kernel, dim3(1), dim3(threads), 0, nullptr, arguments...);
  cudaDeviceSynchronize();
  CHECK(fault_count() == 0);
  return traffic();
}

struct Expected {
  LineTraffic::Memory memory;
  bool store;
  int64_t requests, lanes, possible_lanes, moved, ideal;
};
constexpr auto kGlobal = LineTraffic::Memory::global;
constexpr auto kShared = LineTraffic::Memory::shared;

void check_lines(const std::vector<LineTraffic>& lines, const std::vector<Expected>& expected) {
  if (!checked()) {
    CHECK(lines.empty());  // the other builds count nothing
    return;
  }
  REQUIRE(lines.size() == expected.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const LineTraffic& line = lines[i];
    INFO("entry " << i << ", line " << line.line);
    CHECK(line.file.find("traffic_test.cu") != std::string::npos);
    CHECK(line.memory == expected[i].memory);
    CHECK(line.store == expected[i].store);
    CHECK(line.requests == expected[i].requests);
    CHECK(line.lanes == expected[i].lanes);
    CHECK(line.possible_lanes == expected[i].possible_lanes);
    const bool global = line.memory == kGlobal;
    CHECK((global ? line.sectors : line.wavefronts) == expected[i].moved);
    CHECK((global ? line.ideal_sectors : line.ideal_wavefronts) == expected[i].ideal);
    CHECK((global ? line.wavefronts : line.sectors) == 0);
  }
}

__global__ void copies(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }

__global__ void copies_shifted(const float* x, float* y) {
  const float v = x[threadIdx.x + 1];
  y[threadIdx.x] = v;
}

__global__ void copies_with_stride(const float* x, float* y, unsigned stride) {
  const float v = x[threadIdx.x * stride];
  y[threadIdx.x] = v;
}

__global__ void reads_one_value(const float* x, float* y) {
  const float v = x[7];
  y[threadIdx.x] = v;
}

__global__ void copies_vectors(const float4* x, float4* y) {
  const float4 v = x[threadIdx.x];
  y[threadIdx.x] = make_float4(v.x, v.y, v.z, 1);
}

__global__ void copies_pairs(const float2* x, float2* y) {
  float2 v = x[threadIdx.x];
  v.x += 1;
  y[threadIdx.x] = v;
}

__global__ void writes_bytes(unsigned char* y) { y[threadIdx.x] = 1; }

__global__ void half_of_the_lanes(const float* x, float* y) {
  if (threadIdx.x % 2 == 0) return;
  const float v = x[threadIdx.x];
  y[threadIdx.x] = v;
}

// Lane i goes through i + 1 iterations: 32 requests, of 32, 31, ... 1 lanes.
__global__ void different_numbers_of_iterations(const float* x, float* y) {
  float sum = 0;
  for (unsigned i = 0; i <= threadIdx.x; ++i) {
    sum += x[32 * i + threadIdx.x];
  }
  y[threadIdx.x] = sum;
}

// Lanes come by two instructions in different order.
__global__ void two_branches(const float* x, float* y) {
  float v = 0;
  if (threadIdx.x < 16) {
    v = x[threadIdx.x];
  } else {
    v = x[threadIdx.x + 64] + 1;
  }
  y[threadIdx.x] = v;
}

__global__ void uses_banks(float* y, unsigned stride) {
  EMU_SHARED(float, s, [1024]);
  s[threadIdx.x * stride] = 1;
  __syncwarp();
  y[threadIdx.x] = s[threadIdx.x * stride];
}

__global__ void broadcasts(float* y) {
  EMU_SHARED(float, s, [32]);
  s[threadIdx.x] = 1;
  __syncwarp();
  const float v = s[5];
  y[threadIdx.x] = v;
}

__global__ void uses_banks_for_pairs(float* y) {
  EMU_SHARED(float2, s, [64]);
  s[threadIdx.x] = make_float2(1, 2);
  __syncwarp();
  const float2 v = s[threadIdx.x];
  y[threadIdx.x] = v.x + v.y;
}

__global__ void uses_banks_for_vectors(float* y) {
  EMU_SHARED(float4, s, [256]);
  s[threadIdx.x] = make_float4(1, 2, 3, 4);
  __syncwarp();
  s[8 * threadIdx.x] = make_float4(1, 2, 3, 4);
  __syncwarp();
  const float4 v = s[threadIdx.x / 16];
  y[threadIdx.x] = v.x;
}

__global__ void counts(int* histogram) { atomicAdd(&histogram[threadIdx.x % 8], 1); }

__global__ void loops_over_barriers(const float* x, float* y) {
  for (unsigned i = 0; i < 4; ++i) {
    const float v = x[i * blockDim.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x % 32 < 8) y[threadIdx.x] = v;
  }
}

__global__ void wastes(const float* x, float* y) {
  const float first = x[threadIdx.x * 16];
  const float second = x[threadIdx.x * 16 + 1];  // emu: a test of excuses
  const float third = x[threadIdx.x * 16 + 2];   // emu:
  y[blockIdx.x * blockDim.x + threadIdx.x] = first + second + third;
}

}  // namespace

TEST_CASE("global memory: a warp's lanes side by side") {
  float *const x = zeros(), *const y = zeros();
  check_lines(traffic_of(64, copies, static_cast<const float*>(x), y),
              {{kGlobal, false, 2, 64, 64, 8, 8}, {kGlobal, true, 2, 64, 64, 8, 8}});
  // 128 bytes from byte 4 on lie in 5 sectors.
  check_lines(traffic_of(32, copies_shifted, static_cast<const float*>(x), y),
              {{kGlobal, false, 1, 32, 32, 5, 4}, {kGlobal, true, 1, 32, 32, 4, 4}});
  check_lines(traffic_of(256, writes_bytes, reinterpret_cast<unsigned char*>(y)), {{kGlobal, true, 8, 256, 256, 8, 8}});
}

TEST_CASE("global memory: strides and one value for all") {
  float *const x = zeros(), *const y = zeros();
  check_lines(traffic_of(32, copies_with_stride, static_cast<const float*>(x), y, 2u),
              {{kGlobal, false, 1, 32, 32, 8, 4}, {kGlobal, true, 1, 32, 32, 4, 4}});
  check_lines(traffic_of(32, copies_with_stride, static_cast<const float*>(x), y, 33u),
              {{kGlobal, false, 1, 32, 32, 32, 4}, {kGlobal, true, 1, 32, 32, 4, 4}});
  check_lines(traffic_of(32, reads_one_value, static_cast<const float*>(x), y),
              {{kGlobal, false, 1, 32, 32, 1, 1}, {kGlobal, true, 1, 32, 32, 4, 4}});
}

TEST_CASE("global memory: a vector is one access") {
  float *const x = zeros(), *const y = zeros();
  check_lines(traffic_of(32, copies_vectors, reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(y)),
              {{kGlobal, false, 1, 32, 32, 16, 16}, {kGlobal, true, 1, 32, 32, 16, 16}});
  check_lines(traffic_of(32, copies_pairs, reinterpret_cast<const float2*>(x), reinterpret_cast<float2*>(y)),
              {{kGlobal, false, 1, 32, 32, 8, 8}, {kGlobal, true, 1, 32, 32, 8, 8}});
}

TEST_CASE("lanes that take no part") {
  float *const x = zeros(), *const y = zeros();
  check_lines(traffic_of(32, half_of_the_lanes, static_cast<const float*>(x), y),
              {{kGlobal, false, 1, 16, 32, 4, 2}, {kGlobal, true, 1, 16, 32, 4, 2}});
  check_lines(traffic_of(40, copies, static_cast<const float*>(x), y),
              {{kGlobal, false, 2, 40, 40, 5, 5}, {kGlobal, true, 2, 40, 40, 5, 5}});
  // Lanes i to 31 are there in iteration i: sectors 4 for i < 8, then 3, 2, 1; (32 - i) / 8 rounded up are needed.
  check_lines(traffic_of(32, different_numbers_of_iterations, static_cast<const float*>(x), y),
              {{kGlobal, false, 32, 528, 1024, 80, 80}, {kGlobal, true, 1, 32, 32, 4, 4}});
  check_lines(traffic_of(32, two_branches, static_cast<const float*>(x), y),
              {{kGlobal, false, 1, 16, 32, 2, 2}, {kGlobal, false, 1, 16, 32, 2, 2}, {kGlobal, true, 1, 32, 32, 4, 4}});
}

TEST_CASE("shared memory: banks") {
  float* const y = zeros();
  const Expected stores{kGlobal, true, 1, 32, 32, 4, 4};
  check_lines(traffic_of(32, uses_banks, y, 1u),
              {{kShared, true, 1, 32, 32, 1, 1}, stores, {kShared, false, 1, 32, 32, 1, 1}});
  check_lines(traffic_of(32, uses_banks, y, 2u),
              {{kShared, true, 1, 32, 32, 2, 1}, stores, {kShared, false, 1, 32, 32, 2, 1}});
  check_lines(traffic_of(32, uses_banks, y, 31u),
              {{kShared, true, 1, 32, 32, 1, 1}, stores, {kShared, false, 1, 32, 32, 1, 1}});
  check_lines(traffic_of(32, uses_banks, y, 32u),
              {{kShared, true, 1, 32, 32, 32, 1}, stores, {kShared, false, 1, 32, 32, 32, 1}});
  check_lines(traffic_of(32, broadcasts, y),
              {{kShared, true, 1, 32, 32, 1, 1}, {kShared, false, 1, 32, 32, 1, 1}, stores});
}

TEST_CASE("shared memory: wide accesses go in parts") {
  float* const y = zeros();
  const Expected stores{kGlobal, true, 1, 32, 32, 4, 4};
  check_lines(traffic_of(32, uses_banks_for_pairs, y),
              {{kShared, true, 1, 32, 32, 2, 2}, {kShared, false, 1, 32, 32, 2, 2}, stores});
  // With a stride of 128 bytes, the 8 lanes of a quarter need the same 4 banks.
  check_lines(
      traffic_of(32, uses_banks_for_vectors, y),
      {{kShared, true, 1, 32, 32, 4, 4}, {kShared, true, 1, 32, 32, 32, 4}, {kShared, false, 1, 32, 32, 4, 4}, stores});
}

TEST_CASE("atomic operations, loops with barriers") {
  float *const x = zeros(), *const y = zeros();
  check_lines(traffic_of(32, counts, reinterpret_cast<int*>(y)), {{kGlobal, true, 1, 32, 32, 1, 1}});
  check_lines(traffic_of(64, loops_over_barriers, static_cast<const float*>(x), y),
              {{kGlobal, false, 8, 256, 256, 32, 32}, {kGlobal, true, 8, 64, 256, 8, 8}});
}

TEST_CASE("lines that move too much are named, unless they give a reason") {
  float *const x = zeros(), *const y = zeros();
  clear_traffic();
  launch(wastes, dim3(2), dim3(32), 0, nullptr, static_cast<const float*>(x), y);
  cudaDeviceSynchronize();
  CHECK(fault_count() == 0);
  const std::vector<std::string> lines = wasteful_lines();
  if (!checked()) {
    CHECK(lines.empty());
    return;
  }
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("traffic_test.cu") != std::string::npos);
  CHECK(lines[0].find("wastes: loads from global memory move 8.00 times what it needs: 64 sectors where 8 would do, in "
                      "2 requests") != std::string::npos);
  CHECK(traffic()[0].line + 2 == traffic()[2].line);
  CHECK(lines[1].find(":" + std::to_string(traffic()[2].line) + ": ") != std::string::npos);
  CHECK(wasteful_lines(8).empty());
}
