#include <algorithm>
#include <bit>

#include "checker.h"

namespace emu::checker {
namespace {

// Sorted. Most requests come so.
template <int kMost>
struct Numbers {
  uintptr_t values[kMost];
  int count = 0;
  bool sorted = true;

  void add(uintptr_t value) {
    sorted = sorted && (count == 0 || values[count - 1] <= value);
    values[count++] = value;
  }
  void make_unique() {
    if (!sorted) std::sort(values, values + count);
    count = static_cast<int>(std::unique(values, values + count) - values);
  }
};

// The words of some lanes, passed through 32 banks of 4 bytes.
Cost pass_banks(const Request& request, unsigned lanes, unsigned bytes) {
  if (lanes == 0) return {};
  Numbers<64> words;
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const uintptr_t address = request.addresses[std::countr_zero(rest)];
    for (uintptr_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) words.add(word);
  }
  words.make_unique();
  int in_bank[32] = {};
  for (int i = 0; i < words.count; ++i) ++in_bank[words.values[i] % 32];
  return {(words.count + 31) / 32, *std::max_element(in_bank, in_bank + 32)};
}

}  // namespace

Cost count_sectors(const Request& request, unsigned bytes) {
  Numbers<32> addresses;
  for (unsigned rest = request.lanes; rest != 0; rest &= rest - 1) {
    addresses.add(request.addresses[std::countr_zero(rest)]);
  }
  addresses.make_unique();
  Cost cost;
  uintptr_t next = 0, next_byte = 0;
  int used = 0;
  for (int i = 0; i < addresses.count; ++i) {
    const uintptr_t begin = addresses.values[i], end = begin + bytes;
    used += static_cast<int>(end - std::max(begin, std::min(end, next_byte)));
    next_byte = end;
    const uintptr_t first = std::max(begin / 32, next), last = (end - 1) / 32;
    if (first <= last) cost.moved += static_cast<int>(last - first + 1);
    next = last + 1;
  }
  cost.needed = (used + 31) / 32;
  return cost;
}

Cost count_wavefronts(const Request& request, unsigned bytes) {
  // 8 bytes go half a warp at a time, 16 a quarter.
  const unsigned lanes_at_once = bytes <= 4 ? 32 : 128 / bytes;
  const unsigned phase = lanes_at_once == 32 ? ~0u : (1u << lanes_at_once) - 1;
  Cost sum;
  for (unsigned first = 0; first < 32; first += lanes_at_once) {
    const Cost cost = pass_banks(request, request.lanes & phase << first, bytes);
    sum.needed += cost.needed;
    sum.moved += cost.moved;
  }
  return sum;
}

}  // namespace emu::checker
