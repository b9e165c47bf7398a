#pragma once
#include <cstring>

#include <kernels/backend.h>

namespace dnn::reference {

inline int64_t index_at(DType type, const void* index, int64_t i) {
  return type == DType::int64 ? static_cast<const int64_t*>(index)[i] : static_cast<const int32_t*>(index)[i];
}

// f(element of the full side, element of the side that the index picks), in the order of the full side: the elements
// (o, i, k) and (o, index, k).
template <class F>
void for_each_indexed(const GatherShape& shape, const void* index, F&& f) {
  for (int64_t o = 0; o < shape.outer; ++o) {
    for (int64_t i = 0; i < shape.count; ++i) {
      for (int64_t k = 0; k < shape.inner; ++k) {
        const int64_t full = (o * shape.count + i) * shape.inner + k;
        const int64_t picked = index_at(shape.index_type, index, shape.index_each ? full : i);
        f(full, (o * shape.size + picked) * shape.inner + k);
      }
    }
  }
}

inline void gather_rows(Context&, const GatherShape& shape, int element_size, const void* x, const void* index,
                        void* y) {
  for_each_indexed(shape, index, [&](int64_t to, int64_t from) {
    std::memcpy(static_cast<char*>(y) + to * element_size, static_cast<const char*>(x) + from * element_size,
                static_cast<size_t>(element_size));
  });
}

template <class T>
void scatter_add(Context&, const GatherShape& shape, const T* x, const void* index, T* y) {
  for_each_indexed(shape, index, [&](int64_t from, int64_t to) { y[to] += x[from]; });
}

inline void first_outside(Context&, DType type, int64_t count, int64_t size, const void* index, int64_t* position) {
  *position = -1;
  for (int64_t i = 0; i < count && *position < 0; ++i) {
    const int64_t value = index_at(type, index, i);
    if (value < 0 || value >= size) *position = i;
  }
}

}  // namespace dnn::reference
