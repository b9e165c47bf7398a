#include "shadow.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "../state.h"

namespace emu::checker {
namespace {

// Calls f(word, mask) for the words of a bit field that hold `count` bits from `first` on.
template <class F>
void for_each_word(size_t first, size_t count, F f) {
  while (count > 0) {
    const size_t shift = first % 64, here = std::min(count, 64 - shift);
    f(first / 64, (here == 64 ? ~uint64_t{0} : (uint64_t{1} << here) - 1) << shift);
    first += here;
    count -= here;
  }
}

}  // namespace

Region::~Region() { std::free(cells); }

void Region::set_bytes(size_t count) {
  bytes = count;
  written.assign((count + 63) / 64, 0);
  const size_t needed = count / 4 + 2;  // a word may be cut off at either end
  if (needed <= cell_count) return;
  std::free(cells);
  parts.clear();
  cells = static_cast<Cell*>(std::calloc(needed, sizeof(Cell)));
  cell_count = needed;
  if (!cells) std::abort();
}

bool Region::is_written(size_t offset, size_t count) const {
  if (offset % 64 + count <= 64) {
    const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << offset % 64;
    return (written[offset / 64] & mask) == mask;
  }
  bool all = true;
  for_each_word(offset, count, [&](size_t word, uint64_t mask) { all = all && (written[word] & mask) == mask; });
  return all;
}

void Region::set_written(size_t offset, size_t count) {
  for_each_word(offset, count, [&](size_t word, uint64_t mask) { written[word] |= mask; });
}

void Region::set_unwritten() { std::fill(written.begin(), written.end(), 0); }

std::string Region::describe(uintptr_t address) const {
  const std::string size = std::to_string(bytes);
  std::string text = name;
  if (address < begin) {
    text += ", " + std::to_string(begin - address) + " bytes before ";
  } else if (address - begin > bytes) {
    text += ", " + std::to_string(address - begin - bytes) + " bytes behind ";
  } else {
    text += ", byte " + std::to_string(address - begin) + " of ";
  }
  text += (global ? "an allocation of " : "") + size;
  if (!global) return text;
  char host_address[32];
  std::snprintf(host_address, sizeof host_address, " at %p", host_view(reinterpret_cast<const void*>(begin)));
  return text + host_address;
}

}  // namespace emu::checker
