// Elements picked by an index, and the sum of what was picked: rows for an index along a dimension, single elements for
// an index of its own for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gather.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cassert>
#include <cstring>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

void add_row(int64_t count, const float* x, float* y) {
  for_vectors(count, [=](auto d, int64_t i)
                         HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i); });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// f(index as an array of its type)
template <class F>
void with_index(DType type, const void* index, F&& f) {
  if (type == DType::int64) return f(static_cast<const int64_t*>(index));
  assert(type == DType::int32);
  f(static_cast<const int32_t*>(index));
}

template <class Index>
void gather_bytes(Context& context, const GatherShape& s, int64_t row_bytes, const char* x, const Index* index,
                  char* y) {
  const int64_t rows = s.outer * s.count;
  const int64_t chunks = std::min(rows, chunk_count(rows * row_bytes, kChunkElements * int64_t{sizeof(float)}));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(rows, chunks, chunk);
    int64_t outer = range.begin / s.count, i = range.begin % s.count;
    for (int64_t row = range.begin; row < range.end; ++row) {
      std::memcpy(y + row * row_bytes, x + (outer * s.size + index[i]) * row_bytes, static_cast<size_t>(row_bytes));
      if (++i == s.count) i = 0, ++outer;
    }
  });
}

// An index for each element; one for each row is that too where a row is an element.
template <class T, class Index>
void gather_elements(Context& context, const GatherShape& s, const T* x, const Index* index, T* y) {
  const int64_t rows = s.outer * s.count;
  const int64_t chunks = std::min(rows, chunk_count(rows * s.inner, kChunkElements));
  const int64_t index_outer = s.index_each ? s.count * s.inner : 0;
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(rows, chunks, chunk);
    for (int64_t row = range.begin; row < range.end; ++row) {
      const int64_t outer = row / s.count, i = row % s.count;
      const Index* const at = index + outer * index_outer + i * s.inner;
      const T* const from = x + outer * s.size * s.inner;
      for (int64_t k = 0; k < s.inner; ++k) y[row * s.inner + k] = from[at[k] * s.inner + k];
    }
  });
}

template <class T>
void gather_as(Context& context, const GatherShape& s, const void* x, const void* index, void* y) {
  with_index(s.index_type, index,
             [&](const auto* at) { gather_elements(context, s, static_cast<const T*>(x), at, static_cast<T*>(y)); });
}

constexpr int64_t kParts = 8;  // of what is summed into

}  // namespace

void gather_rows(Context& context, const GatherShape& s, int element_size, const void* x, const void* index, void* y) {
  if (s.outer * s.count * s.inner == 0) return;
  if (!s.index_each && s.inner > 1) {
    return with_index(s.index_type, index, [&](const auto* at) {
      gather_bytes(context, s, s.inner * element_size, static_cast<const char*>(x), at, static_cast<char*>(y));
    });
  }
  switch (element_size) {
    case 1:
      return gather_as<uint8_t>(context, s, x, index, y);
    case 2:
      return gather_as<uint16_t>(context, s, x, index, y);
    case 4:
      return gather_as<uint32_t>(context, s, x, index, y);
    default:
      assert(element_size == 8);
      return gather_as<uint64_t>(context, s, x, index, y);
  }
}

// Each part of y has a chunk of its own, which looks at the whole index and adds what falls into the part.
void scatter_add(Context& context, const GatherShape& s, const float* x, const void* index, float* y) {
  const auto add = DNN_PER_ISA(add_row)[context];
  if (s.outer * s.count * s.inner == 0) return;
  const int64_t parts = std::min(s.size, chunk_count(s.outer * s.count * s.inner, kChunkElements, kParts));
  with_index(s.index_type, index, [&](const auto* all) {
    parallel_for(context, s.outer * parts, [&](int64_t chunk, int) {
      const int64_t outer = chunk / parts;
      const Range part = chunk_range(s.size, parts, chunk % parts);
      const auto inside = [&](int64_t place) { return place >= part.begin && place < part.end; };
      const float* const from = x + outer * s.count * s.inner;
      float* const to = y + outer * s.size * s.inner;
      if (!s.index_each) {
        for (int64_t i = 0; i < s.count; ++i) {
          if (inside(all[i])) add(s.inner, from + i * s.inner, to + all[i] * s.inner);
        }
        return;
      }
      const auto* const each = all + outer * s.count * s.inner;
      for (int64_t i = 0; i < s.count; ++i) {
        for (int64_t k = 0; k < s.inner; ++k) {
          const int64_t place = each[i * s.inner + k];
          if (inside(place)) to[place * s.inner + k] += from[i * s.inner + k];
        }
      }
    });
  });
}

void first_outside(Context& context, DType type, int64_t count, int64_t size, const void* index, int64_t* position) {
  constexpr int64_t kMostChunks = 64;
  const int64_t chunks = chunk_count(count, kChunkElements, kMostChunks);
  int64_t first[kMostChunks];
  with_index(type, index, [&](const auto* all) {
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      const Range range = chunk_range(count, chunks, chunk);
      int64_t i = range.begin;
      while (i < range.end && all[i] >= 0 && all[i] < size) ++i;
      first[chunk] = i < range.end ? i : -1;
    });
  });
  *position = -1;
  for (int64_t chunk = chunks; chunk-- > 0;) {
    if (first[chunk] >= 0) *position = first[chunk];
  }
}

}  // namespace dnn::cpu
#endif
