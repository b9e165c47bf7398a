#include <kernels/cuda/kernels.h>
#include <kernels/cuda/unary.cuh>
#include <kernels/cuda/vectors.cuh>

#include <array>
#include <utility>

namespace dnn::cuda {

// Functions, element by element: y[i] = f(x[i]). One kernel for each function of enum UnaryOp.
template <UnaryOp kOp>
__global__ void __launch_bounds__(kBlock)
    unary_forward_kernel(UnaryFactors f, VectorParts parts, const float* x, float* y) {
  const auto value = [&](float v) { return unary_value<kOp>(f, v); };
  for_each_part<4>(
      parts, [&](int64_t i) { store4(y + i, map(value, load4(x + i))); }, [&](int64_t i) { y[i] = value(x[i]); });
}

// Their gradients: dx[i] = dy[i] * f'(saved[i]).
template <UnaryOp kOp>
__global__ void __launch_bounds__(kBlock)
    unary_backward_kernel(UnaryFactors f, VectorParts parts, const float* saved, const float* dy, float* dx) {
  const auto gradient = [&](float v, float upstream) { return upstream * unary_slope<kOp>(f, v); };
  for_each_part<4>(
      parts,
      [&](int64_t i) {
        const float4 v = constant_slope(kOp) ? make_float4(0, 0, 0, 0) : load4(saved + i);
        store4(dx + i, map(gradient, v, load4(dy + i)));
      },
      [&](int64_t i) { dx[i] = gradient(constant_slope(kOp) ? 0.0f : saved[i], dy[i]); });
}

namespace {

constexpr auto kEveryOp = std::make_index_sequence<static_cast<size_t>(UnaryOp::erf) + 1>();

template <size_t... kOps>
auto forward_kernel(UnaryOp op, std::index_sequence<kOps...>) {
  static constexpr std::array kernels{&unary_forward_kernel<static_cast<UnaryOp>(kOps)>...};
  return kernels[static_cast<size_t>(op)];
}

template <size_t... kOps>
auto backward_kernel(UnaryOp op, std::index_sequence<kOps...>) {
  static constexpr std::array kernels{&unary_backward_kernel<static_cast<UnaryOp>(kOps)>...};
  return kernels[static_cast<size_t>(op)];
}

}  // namespace

void unary_forward(Context& context, const UnaryParams& f, int64_t count, const float* x, float* y) {
  const VectorParts parts = vector_parts<4>(count, sizeof(float), {x, y});
  launch(context, "unary_forward", forward_kernel(f.op, kEveryOp), blocks_for(parts.threads()), kBlock, 0,
         UnaryFactors::of_value(f), parts, x, y);
}

void unary_backward(Context& context, const UnaryParams& f, int64_t count, const float* saved, const float* dy,
                    float* dx) {
  const VectorParts parts = constant_slope(f.op) ? vector_parts<4>(count, sizeof(float), {dy, dx})
                                                 : vector_parts<4>(count, sizeof(float), {saved, dy, dx});
  launch(context, "unary_backward", backward_kernel(f.op, kEveryOp), blocks_for(parts.threads()), kBlock, 0,
         UnaryFactors::of_slope(f), parts, saved, dy, dx);
}

}  // namespace dnn::cuda
