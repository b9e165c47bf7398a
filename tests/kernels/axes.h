#pragma once
#include "broadcasts.h"

// Shapes of kernels that work along one dimension.
namespace dnn::test {

inline std::string describe(const AxisShape& shape) {
  return std::to_string(shape.outer) + " x " + std::to_string(shape.size) + " x " + std::to_string(shape.inner);
}

inline std::vector<AxisShape> axis_cases() {
  std::vector<AxisShape> shapes{{0, 10, 1},     {1000, 10, 1}, {7, 1000, 1}, {2, 4099, 1}, {70000, 1, 1},
                                {1, 7, 0},      {3, 50, 400},  {1, 9, 5000}, {40, 6, 2},   {2, 300, 77},
                                {1, 100003, 1}, {1, 5, 1},     {2, 0, 3}};
  for (const int size : odd_sizes()) {
    shapes.push_back({40, size, 1});
    shapes.push_back({3, 5, size});
    shapes.push_back({2, size, size});
  }
  return shapes;
}

}  // namespace dnn::test
