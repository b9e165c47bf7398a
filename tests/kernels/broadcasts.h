#pragma once
#include <utility>

#include "rows.h"

// Shapes of broadcast operands.
namespace dnn::test {

using Dims = std::vector<int>;

inline int64_t product(const Dims& dims) {
  int64_t count = 1;
  for (const int size : dims) count *= size;
  return count;
}

inline BroadcastShape broadcast(const Dims& a, const Dims& b) {
  return BroadcastShape::of(a.data(), static_cast<int>(a.size()), b.data(), static_cast<int>(b.size()));
}

inline const std::vector<std::pair<Dims, Dims>>& broadcast_cases() {
  static const std::vector<std::pair<Dims, Dims>> all = [] {
    std::vector<std::pair<Dims, Dims>> shapes{{{}, {}},
                                              {{1}, {1}},
                                              {{100003}, {100003}},
                                              {{50021}, {}},
                                              {{}, {50021}},
                                              {{0, 3}, {3}},
                                              {{4, 0}, {1, 1}},
                                              {{300, 1}, {1, 257}},
                                              {{2, 5, 1, 7}, {5, 9, 1}},
                                              {{3, 1, 4, 1, 5, 1}, {1, 2, 1, 6, 1, 2}},
                                              {{8, 14, 14, 24}, {24}},
                                              {{8, 1, 1, 24}, {8, 14, 14, 24}},
                                              {{6, 500, 1}, {6, 1, 33}}};
    for (const int size : odd_sizes()) {
      shapes.push_back({{5, size}, {5, size}});
      shapes.push_back({{5, size}, {size}});
      shapes.push_back({{5, size}, {5, 1}});
      shapes.push_back({{1, size}, {5, 1}});
      shapes.push_back({{}, {size}});
    }
    return shapes;
  }();
  return all;
}

// A few values only, so that many are equal.
inline Buffer<float> few_values(int64_t count, uint32_t seed) {
  auto x = Buffer<float>::random(count, seed);
  for (int64_t i = 0; i < count; ++i) x[i] = std::round(x[i] * 3);
  return x;
}

}  // namespace dnn::test
