#pragma once
#include <utility>

#include "rows.h"

// Shapes of reductions.
namespace dnn::test {

// `reduced` names the dimensions by position, as a word of 0s and 1s.
inline ReduceShape reduced_shape(const std::vector<int64_t>& size, const std::string& reduced) {
  ReduceShape shape;
  shape.dims = static_cast<int>(size.size());
  for (int d = 0; d < shape.dims; ++d) {
    shape.size[d] = size[d];
    shape.reduced[d] = reduced[d] == '1';
  }
  return shape;
}

inline const std::vector<std::pair<std::vector<int64_t>, std::string>>& reduce_cases() {
  static const std::vector<std::pair<std::vector<int64_t>, std::string>> all = [] {
    std::vector<std::pair<std::vector<int64_t>, std::string>> shapes{
        {{100003}, "1"},           {{300, 257}, "10"},
        {{300, 257}, "01"},        {{70001, 3}, "10"},
        {{3, 70001}, "01"},        {{8, 14, 14, 24}, "1110"},
        {{8, 14, 14, 24}, "0110"}, {{8, 14, 14, 24}, "0111"},
        {{8, 14, 14, 24}, "1001"}, {{5, 6, 7, 8}, "1010"},
        {{5, 6, 7, 8}, "0101"},    {{2, 3, 4, 5, 6, 7}, "101010"},
        {{1, 9, 1, 8}, "1010"},    {{2, 3, 4, 5, 6, 7}, "010101"},
        {{1000, 1}, "01"},         {{3, 5000}, "10"},
        {{4000, 5}, "00"}};
    for (const int size : odd_sizes()) {
      shapes.push_back({{size, size}, "01"});
      shapes.push_back({{size, size}, "10"});
      shapes.push_back({{4, size, 5}, "101"});
      shapes.push_back({{4, 3, size}, "010"});
    }
    return shapes;
  }();
  return all;
}

// f(context, threads) on the row with one and several threads.
template <class F>
void with_threads(const Backend& row, F&& f) {
  for (const int threads : {1, 2, 3}) {
    Context context(row);
    context.threads = threads;
    f(context, threads);
  }
}

inline double cells_of(const ReduceShape& shape) {
  return static_cast<double>(shape.in_count()) / static_cast<double>(std::max<int64_t>(shape.out_count(), 1));
}

}  // namespace dnn::test
