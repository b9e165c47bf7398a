#include <kernels/cuda/kernels.h>
#include <kernels/cuda/pair_index.cuh>
#include <kernels/cuda/vectors.cuh>

#include <cmath>

namespace dnn::cuda {

template <BinaryOp kOp>
__device__ float binary_value(float a, float b) {
  if constexpr (kOp == BinaryOp::add) return a + b;
  if constexpr (kOp == BinaryOp::sub) return a - b;
  if constexpr (kOp == BinaryOp::mul) return a * b;
  if constexpr (kOp == BinaryOp::div) return a / b;
  if constexpr (kOp == BinaryOp::min) return a != a || a < b ? a : b;
  if constexpr (kOp == BinaryOp::max) return a != a || a > b ? a : b;
  if constexpr (kOp == BinaryOp::pow) return powf(a, b);
}

// Operands as dense as the result, or one number: y[i] = a[i] op b[i]. An operand that does not step is its first
// element throughout.
template <BinaryOp kOp>
__global__ void __launch_bounds__(kBlock)
    binary_dense_kernel(VectorParts parts, bool a_steps, bool b_steps, const float* a, const float* b, float* y) {
  const auto load = [](bool steps, const float* x, int64_t i) {
    return steps ? load4(x + i) : make_float4(x[0], x[0], x[0], x[0]);
  };
  for_each_part<4>(
      parts, [&](int64_t i) { store4(y + i, map(binary_value<kOp>, load(a_steps, a, i), load(b_steps, b, i))); },
      [&](int64_t i) { y[i] = binary_value<kOp>(a[a_steps ? i : 0], b[b_steps ? i : 0]); });
}

// Operands broadcast: y[i] = a[place of i] op b[place of i]. y is dense.
template <BinaryOp kOp>
__global__ void __launch_bounds__(kBlock)
    binary_broadcast_kernel(PairIndex index, uint32_t count, const float* a, const float* b, float* y) {
  const auto step = static_cast<uint32_t>(grid_threads());
#pragma unroll 1
  for (auto i = static_cast<uint32_t>(grid_thread()); i < count; i += step) {
    const auto place = index.at(i);
    y[i] = binary_value<kOp>(a[place.first], b[place.second]);
  }
}

// The same in fours along the last dimension, where an operand steps by one or stands still. The index is that of the
// fours, with strides in floats.
template <BinaryOp kOp>
__global__ void __launch_bounds__(kBlock)
    binary_broadcast4_kernel(PairIndex index, uint32_t count, bool a_steps, bool b_steps, const float* a,
                             const float* b, float* y) {
  const auto load = [](bool steps, const float* x) { return steps ? load4(x) : make_float4(*x, *x, *x, *x); };
  const auto step = static_cast<uint32_t>(grid_threads());
#pragma unroll 1
  for (auto i = static_cast<uint32_t>(grid_thread()); i < count; i += step) {
    const auto place = index.at(i);
    store4(y + int64_t{4} * i, map(binary_value<kOp>, load(a_steps, a + place.first), load(b_steps, b + place.second)));
  }
}

namespace {

// Whether fours along the last dimension, an operand's own or the same number, may be loaded.
bool fours(const PairAxes& axes, const std::array<int64_t, kMaxDims>& stride, const float* operand) {
  const int last = axes.dims - 1;
  if (stride[last] == 0) return true;
  for (int dim = 0; dim < last; ++dim) {
    if (stride[dim] % 4 != 0) return false;
  }
  return aligned(operand);
}

template <BinaryOp kOp>
void launch_broadcast(const Context& context, const PairAxes& axes, const float* a, const float* b, float* y) {
  const int last = axes.dims - 1;
  if (axes.size[last] % 4 == 0 && aligned(y) && fours(axes, axes.first_stride, a) &&
      fours(axes, axes.second_stride, b)) {
    PairAxes in_fours = axes;
    in_fours.size[last] /= 4;
    in_fours.first_stride[last] *= 4;
    in_fours.second_stride[last] *= 4;
    const int64_t count = in_fours.count();
    return launch(context, "binary", binary_broadcast4_kernel<kOp>, blocks_for(count), kBlock, 0, PairIndex(in_fours),
                  static_cast<uint32_t>(count), axes.first_stride[last] != 0, axes.second_stride[last] != 0, a, b, y);
  }
  const int64_t count = axes.count();
  launch(context, "binary", binary_broadcast_kernel<kOp>, blocks_for(count), kBlock, 0, PairIndex(axes),
         static_cast<uint32_t>(count), a, b, y);
}

template <BinaryOp kOp>
void run(const Context& context, const BroadcastShape& shape, const float* a, const float* b, float* y) {
  if (shape.dims <= 1) {
    const bool a_steps = shape.dims == 0 || shape.a_stride[0] != 0, b_steps = shape.dims == 0 || shape.b_stride[0] != 0;
    const int64_t count = shape.count();
    const VectorParts parts = vector_parts<4>(count, sizeof(float), {a_steps ? a : y, b_steps ? b : y, y});
    return launch(context, "binary", binary_dense_kernel<kOp>, blocks_for(parts.threads()), kBlock, 0, parts, a_steps,
                  b_steps, a, b, y);
  }
  const PairAxes axes{shape.dims, shape.size, shape.a_stride, shape.b_stride};
  if (axes.count() == 0) return;
  for_parts(axes, kMostPlaces, [&](const PairAxes& part, int64_t a_offset, int64_t b_offset, int64_t before) {
    launch_broadcast<kOp>(context, part, a + a_offset, b + b_offset, y + before);
  });
}

}  // namespace

void binary(Context& context, BinaryOp op, const BroadcastShape& shape, const float* a, const float* b, float* y) {
  switch (op) {
    case BinaryOp::add:
      return run<BinaryOp::add>(context, shape, a, b, y);
    case BinaryOp::sub:
      return run<BinaryOp::sub>(context, shape, a, b, y);
    case BinaryOp::mul:
      return run<BinaryOp::mul>(context, shape, a, b, y);
    case BinaryOp::div:
      return run<BinaryOp::div>(context, shape, a, b, y);
    case BinaryOp::min:
      return run<BinaryOp::min>(context, shape, a, b, y);
    case BinaryOp::max:
      return run<BinaryOp::max>(context, shape, a, b, y);
    case BinaryOp::pow:
      return run<BinaryOp::pow>(context, shape, a, b, y);
  }
}

}  // namespace dnn::cuda
