// y = A'((G w G') * (B' x B))A (Lavin, Gray, CVPR 2016) on 6x6 tiles with the points 0, +-a, +-b, infinity, a =
// 1/sqrt(2), b = sqrt(2): their powers are small and a b = 1, which keeps the error under twice that of the direct sum;
// with the usual points 0, +-1, +-2 it is four to five times larger.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/winograd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/winograd.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

constexpr float kA = 0.70710678118654752f, kB = 1.4142135623730951f;

// G: the filter's polynomial at the points, over the product of the point's distances to the others.
HWY_INLINE void filter_line(const Vector g0, const Vector g1, const Vector g2, Vector (&u)[6]) {
  const Tag d;
  const Vector even_a = hn::MulAdd(hn::Set(d, 0.5f), g2, g0), odd_a = hn::Mul(hn::Set(d, kA), g1);
  const Vector even_b = hn::MulAdd(hn::Set(d, 2.0f), g2, g0), odd_b = hn::Mul(hn::Set(d, kB), g1);
  const Vector over_a = hn::Set(d, -1 / 1.5f), over_b = hn::Set(d, 1 / 6.0f);
  u[0] = g0;
  u[1] = hn::Mul(over_a, hn::Add(even_a, odd_a));
  u[2] = hn::Mul(over_a, hn::Sub(even_a, odd_a));
  u[3] = hn::Mul(over_b, hn::Add(even_b, odd_b));
  u[4] = hn::Mul(over_b, hn::Sub(even_b, odd_b));
  u[5] = g2;
}

// B'.
HWY_INLINE void input_line(const Vector (&x)[6], Vector (&v)[6]) {
  const Tag d;
  const Vector a = hn::Set(d, kA), b = hn::Set(d, kB), half = hn::Set(d, 0.5f), two = hn::Set(d, 2.0f);
  const Vector middle = hn::Set(d, 2.5f);
  const Vector even_a = hn::NegMulAdd(two, x[2], x[4]), odd_a = hn::NegMulAdd(two, x[1], x[3]);
  const Vector even_b = hn::NegMulAdd(half, x[2], x[4]), odd_b = hn::NegMulAdd(half, x[1], x[3]);
  v[0] = hn::Add(hn::NegMulAdd(middle, x[2], x[4]), x[0]);
  v[1] = hn::MulAdd(a, odd_a, even_a);
  v[2] = hn::NegMulAdd(a, odd_a, even_a);
  v[3] = hn::MulAdd(b, odd_b, even_b);
  v[4] = hn::NegMulAdd(b, odd_b, even_b);
  v[5] = hn::Add(hn::NegMulAdd(middle, x[3], x[5]), x[1]);
}

// A'.
HWY_INLINE void output_line(const Vector (&m)[6], Vector (&y)[4]) {
  const Tag d;
  const Vector sum_a = hn::Add(m[1], m[2]), difference_a = hn::Sub(m[1], m[2]);
  const Vector sum_b = hn::Add(m[3], m[4]), difference_b = hn::Sub(m[3], m[4]);
  y[0] = hn::Add(m[0], hn::Add(sum_a, sum_b));
  y[1] = hn::MulAdd(hn::Set(d, kA), difference_a, hn::Mul(hn::Set(d, kB), difference_b));
  y[2] = hn::MulAdd(hn::Set(d, 0.5f), sum_a, hn::Mul(hn::Set(d, 2.0f), sum_b));
  y[3] = hn::MulAdd(hn::Set(d, kA * 0.5f), difference_a, hn::MulAdd(hn::Set(d, kB * 2.0f), difference_b, m[5]));
}

void winograd_filters(const float* w, int64_t tap_step, int64_t count, float* u, int64_t step) {
  const Tag d;
  for (int64_t i = 0; i < count; i += hn::Lanes(d)) {
    Vector columns[3][6];
    for (int s = 0; s < 3; ++s) {
      const float* column = w + s * tap_step + i;
      filter_line(hn::LoadU(d, column), hn::LoadU(d, column + 3 * tap_step), hn::LoadU(d, column + 6 * tap_step),
                  columns[s]);
    }
    for (int row = 0; row < 6; ++row) {
      Vector line[6];
      filter_line(columns[0][row], columns[1][row], columns[2][row], line);
      for (int col = 0; col < 6; ++col) hn::StoreU(line[col], d, u + (row * 6 + col) * step + i);
    }
  }
}

// The first channel of vector i: the last vector ends with the last channel.
HWY_INLINE int vector_at(int i, int channels) {
  const int lanes = static_cast<int>(hn::Lanes(Tag()));
  return i + lanes <= channels ? i : channels - lanes;
}

void winograd_input(const float* const* x, int channels, float* v, int64_t step) {
  const Tag d;
  for (int i = 0; i < channels; i += static_cast<int>(hn::Lanes(d))) {
    const int c = vector_at(i, channels);
    Vector rows[6][6];
    for (int col = 0; col < 6; ++col) {
      Vector pixels[6], line[6];
      for (int row = 0; row < 6; ++row) pixels[row] = hn::LoadU(d, x[row * 6 + col] + c);
      input_line(pixels, line);
      for (int row = 0; row < 6; ++row) rows[row][col] = line[row];
    }
    for (int row = 0; row < 6; ++row) {
      Vector line[6];
      input_line(rows[row], line);
      for (int col = 0; col < 6; ++col) hn::StoreU(line[col], d, v + (row * 6 + col) * step + c);
    }
  }
}

template <UnaryOp kActivation>
void winograd_output(const float* m, int64_t step, const WinogradOutput& out) {
  const Tag d;
  for (int i = 0; i < out.channels; i += static_cast<int>(hn::Lanes(d))) {
    const int k = vector_at(i, out.channels);
    const Vector bias = out.bias ? hn::LoadU(d, out.bias + k) : hn::Zero(d);
    Vector rows[4][6];
    for (int col = 0; col < 6; ++col) {
      Vector positions[6], line[4];
      for (int row = 0; row < 6; ++row) positions[row] = hn::LoadU(d, m + (row * 6 + col) * step + k);
      output_line(positions, line);
      for (int row = 0; row < 4; ++row) rows[row][col] = line[row];
    }
    for (int row = 0; row < out.rows; ++row) {
      Vector line[4];
      output_line(rows[row], line);
      for (int col = 0; col < out.cols; ++col) {
        const int64_t at = row * out.row_step + col * out.col_step + k;
        Vector y = hn::Add(line[col], bias);
        if (out.residual) y = hn::Add(y, hn::LoadU(d, out.residual + at));
        hn::StoreU(activate<kActivation>(d, y), d, out.y + at);
      }
    }
  }
}

void winograd_any_output(const float* m, int64_t step, const WinogradOutput& out) {
  with_activation(out.activation, [&]<UnaryOp kActivation>() HWY_ATTR { winograd_output<kActivation>(m, step, out); });
}

const WinogradKernels& winograd_table() {
  static const WinogradKernels kernels{winograd_filters, winograd_input, winograd_any_output};
  return kernels;
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

const WinogradKernels& winograd_kernels(const Context& context) { return DNN_PER_ISA(winograd_table)[context](); }

}  // namespace dnn::cpu
#endif
