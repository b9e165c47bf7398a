#pragma once
#include <kernels/shapes.h>
#include <kernels/cuda/divide.cuh>

// Places in two operands that have the same dimensions, each with strides of its own.
namespace dnn::cuda {

constexpr int64_t kMostPlaces = (int64_t{1} << 31) - 1;  // that a kernel counts with 32 bits

// On the host; a dimension of the operands, the slowest first.
struct PairAxes {
  int dims = 0;
  std::array<int64_t, kMaxDims> size{}, first_stride{}, second_stride{};

  void add(int64_t of_size, int64_t first, int64_t second) {
    size[dims] = of_size;
    first_stride[dims] = first;
    second_stride[dims++] = second;
  }
  int64_t count() const {
    int64_t product = 1;
    for (int dim = 0; dim < dims; ++dim) product *= size[dim];
    return product;
  }
};

// f(axes, offset of the first operand, of the second, places before) for parts of at most `most` places.
template <class F>
void for_parts(const PairAxes& axes, int64_t most, F&& f, int64_t first = 0, int64_t second = 0, int64_t before = 0) {
  const int64_t count = axes.count();
  if (count <= most) return f(axes, first, second, before);
  int dim = 0;
  while (axes.size[dim] == 1) ++dim;
  PairAxes begin = axes, end = axes;
  const int64_t half = axes.size[dim] / 2;
  begin.size[dim] = half;
  end.size[dim] -= half;
  for_parts(begin, most, f, first, second, before);
  for_parts(end, most, f, first + half * axes.first_stride[dim], second + half * axes.second_stride[dim],
            before + count / axes.size[dim] * half);
}

// For kernels: the axes' places by their numbers, below 2^31.
struct PairIndex {
  struct Place {
    int64_t first = 0, second = 0;
  };

  int dims = 0;
  Divider size[kMaxDims];
  int64_t first_stride[kMaxDims]{}, second_stride[kMaxDims]{};

  PairIndex() = default;
  explicit PairIndex(const PairAxes& axes) : dims(axes.dims) {
    for (int dim = 0; dim < dims; ++dim) {
      size[dim] = Divider(axes.size[dim]);
      first_stride[dim] = axes.first_stride[dim];
      second_stride[dim] = axes.second_stride[dim];
    }
  }

  __host__ __device__ Place at(uint32_t number) const {
    Place place;
#pragma unroll
    for (int dim = kMaxDims - 1; dim > 0; --dim) {
      if (dim >= dims) continue;
      const auto [before, along] = size[dim].divide(number);
      place.first += along * first_stride[dim];
      place.second += along * second_stride[dim];
      number = before;
    }
    place.first += number * first_stride[0];
    place.second += number * second_stride[0];
    return place;
  }
};

}  // namespace dnn::cuda
