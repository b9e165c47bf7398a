// The arithmetic by which CUDA kernels find their places, as the host computes it: division by multiplication, places
// in two operands, and the parts of what is too large for 32 bits. Run by tests/nvcc_test.sh; needs no device.
#include <cstdio>
#include <random>
#include <set>
#include <utility>

#include <kernels/cuda/pair_index.cuh>

namespace {

using dnn::cuda::Divider;
using dnn::cuda::PairAxes;
using dnn::cuda::PairIndex;

std::mt19937_64 random_bits(1);

bool divides(int64_t divisor, int64_t n) {
  if (n < 0 || n > dnn::cuda::kMostPlaces) return true;
  const auto [quotient, remainder] = Divider(divisor).divide(static_cast<uint32_t>(n));
  if (quotient == n / divisor && remainder == n % divisor) return true;
  std::printf("%ld by %ld: %u, remainder %u\n", static_cast<long>(n), static_cast<long>(divisor), quotient, remainder);
  return false;
}

// Around multiples of the divisor, where a rounded factor shows first.
bool divides_near_multiples(int64_t divisor, int64_t n) {
  const int64_t multiple = n / divisor * divisor;
  return divides(divisor, n) && divides(divisor, multiple) && divides(divisor, multiple - 1) &&
         divides(divisor, multiple + divisor - 1);
}

bool all_divide() {
  const int64_t most = dnn::cuda::kMostPlaces;
  for (int64_t divisor = 1; divisor < 3000; ++divisor) {
    if (!divides_near_multiples(divisor, most) || !divides_near_multiples(divisor, 3 * divisor)) return false;
  }
  for (int i = 0; i < 1000000; ++i) {
    const auto divisor = static_cast<int64_t>(random_bits() % (uint64_t{1} << (1 + random_bits() % 31)) + 1);
    if (!divides_near_multiples(divisor, static_cast<int64_t>(random_bits() & 0x7fffffff))) return false;
  }
  return divides_near_multiples(int64_t{1} << 31, most) && divides_near_multiples(most, most);
}

// The second operand is dense, so the offset of a part says what comes before it.
bool parts_are_the_whole() {
  constexpr int64_t kMost = 7;
  PairAxes axes;
  const int dims = 1 + static_cast<int>(random_bits() % dnn::kMaxDims);
  int64_t size[dnn::kMaxDims], stride[dnn::kMaxDims], count = 1;
  for (int dim = dims - 1; dim >= 0; --dim) {
    size[dim] = 1 + static_cast<int64_t>(random_bits() % 5);
    stride[dim] = count;
    count *= size[dim];
  }
  for (int dim = 0; dim < dims; ++dim) axes.add(size[dim], dim % 2 == 0 ? -3 * dim - 1 : 0, stride[dim]);

  std::set<std::pair<int64_t, int64_t>> expected, got;
  const PairIndex whole(axes);
  bool right = true;
  for (int64_t i = 0; i < count; ++i) {
    const auto place = whole.at(static_cast<uint32_t>(i));
    right = right && place.second == i;
    expected.insert({place.first, place.second});
  }
  dnn::cuda::for_parts(axes, kMost, [&](const PairAxes& part, int64_t first, int64_t second, int64_t before) {
    right = right && part.count() <= kMost && second == before;
    const PairIndex index(part);
    for (int64_t i = 0; i < part.count(); ++i) {
      const auto place = index.at(static_cast<uint32_t>(i));
      got.insert({place.first + first, place.second + second});
    }
  });
  return right && got == expected;
}

}  // namespace

int main() {
  if (!all_divide()) return 1;
  for (int i = 0; i < 1000; ++i) {
    if (parts_are_the_whole()) continue;
    std::printf("the parts of axes %d are not the whole\n", i);
    return 1;
  }
  std::puts("places are found");
  return 0;
}
