// Local response normalisation; one pass over memory. A block of rows that stays in the first-level cache is taken
// through its steps: squares with room for the window on both sides, then the sums over windows of these, while the
// next block is fetched.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/lrn.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/lrn_block.h>
#include <kernels/cpu/lrn_exact.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/power-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

// The sum of `window` values from `from` on, where kWindow is it or 0.
template <int kWindow, class D>
HWY_INLINE hn::Vec<D> window_sum(D d, int window, const float* from) {
  auto sum = hn::LoadU(d, from);
  if constexpr (kWindow > 0) {
#pragma GCC unroll 8
    for (int j = 1; j < kWindow; ++j) sum = hn::Add(sum, hn::LoadU(d, from + j));
  } else {
    for (int j = 1; j < window; ++j) sum = hn::Add(sum, hn::LoadU(d, from + j));
  }
  return sum;
}

// s = k + alpha / size * sum: p = s ^ -beta, and 1 / s.
template <bool kThreeQuarters, class D, class V = hn::Vec<D>>
HWY_INLINE void powers(D d, const LrnBlock& block, V sum, V& p, V& inverse) {
  V s = hn::MulAdd(sum, hn::Set(d, block.alpha), hn::Set(d, block.k));
  if constexpr (kThreeQuarters) {
    const V largest = hn::Set(d, std::numeric_limits<float>::max() / 4);
    s = hn::IfThenElse(hn::Gt(s, largest), largest, s);  // keeps a NaN
    const V r = reciprocal_sqrt(d, s);
    p = hn::Mul(r, hn::Sqrt(r));
    inverse = hn::Mul(r, r);
  } else {
    p = power(d, s, block.minus_beta);
    inverse = hn::Div(hn::Set(d, 1.0f), s);
  }
}

// Whether all squares are within block.largest_square, or NaN.
bool square_rows(const LrnBlock& block, int64_t rows, const float* x, float* squares) {
  const hn::ScalableTag<float> full;
  auto largest = hn::Zero(full);
  float rest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * block.cols;
    float* to = squares + row * block.pitch + block.before;
    for_vectors(block.cols, [&](auto d, int64_t i) HWY_ATTR {
      const auto v = hn::LoadU(d, from + i), square = hn::Mul(v, v);
      hn::StoreU(square, d, to + i);
      if constexpr (hn::MaxLanes(d) == hn::MaxLanes(full)) {
        largest = hn::IfThenElse(hn::Gt(square, largest), square, largest);
      } else {
        rest = std::max(rest, hn::GetLane(hn::MaxOfLanes(d, square)));
      }
    });
  }
  return std::max(rest, hn::GetLane(hn::MaxOfLanes(full, largest))) <= block.largest_square;
}

template <int kWindow, bool kThreeQuarters, bool kStream>
void forward_rows(const LrnBlock& block, int64_t rows, const float* x, const float* squares, float* y) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* windows = squares + row * block.pitch;
    const int64_t at = row * block.cols;
    for_vectors(block.cols, [=, &block](auto d, int64_t i) HWY_ATTR {
      hn::Vec<decltype(d)> p, inverse;
      hwy::Prefetch(x + at + i + block.rows * block.cols);
      powers<kThreeQuarters>(d, block, window_sum<kWindow>(d, block.window, windows + i), p, inverse);
      store<kStream>(hn::Mul(hn::LoadU(d, x + at + i), p), d, y + at + i);
    });
  }
}

// t = dy * y / s, and the first part of dx, dy * p.
template <int kWindow, bool kThreeQuarters>
void backward_first(const LrnBlock& block, int64_t rows, const float* x, const float* dy, const float* squares,
                    float* shares, float* first) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* windows = squares + row * block.pitch;
    float* to = shares + row * block.pitch + block.after;  // its windows are mirrored
    const int64_t at = row * block.cols;
    for_vectors(block.cols, [=, &block](auto d, int64_t i) HWY_ATTR {
      hn::Vec<decltype(d)> p, inverse;
      hwy::Prefetch(x + at + i + block.rows * block.cols);
      hwy::Prefetch(dy + at + i + block.rows * block.cols);
      powers<kThreeQuarters>(d, block, window_sum<kWindow>(d, block.window, windows + i), p, inverse);
      const auto part = hn::Mul(hn::LoadU(d, dy + at + i), p);
      hn::StoreU(part, d, first + at + i);
      hn::StoreU(hn::Mul(hn::Mul(part, inverse), hn::LoadU(d, x + at + i)), d, to + i);
    });
  }
}

template <int kWindow, bool kStream>
void backward_second(const LrnBlock& block, int64_t rows, const float* x, const float* shares, const float* first,
                     float* dx) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* windows = shares + row * block.pitch;
    const int64_t at = row * block.cols;
    for_vectors(block.cols, [=, &block](auto d, int64_t i) HWY_ATTR {
      const auto sum = hn::Mul(window_sum<kWindow>(d, block.window, windows + i), hn::Set(d, block.slope));
      store<kStream>(hn::NegMulAdd(sum, hn::LoadU(d, x + at + i), hn::LoadU(d, first + at + i)), d, dx + at + i);
    });
  }
}

// f.operator()<kWindow, kThreeQuarters, kStream>(), with the usual windows as constants.
template <class F>
void with_constants(const LrnBlock& block, F&& f) {
  const auto with_stream = [&]<int kWindow, bool kThreeQuarters>() HWY_ATTR {
    if (block.stream) return f.template operator()<kWindow, kThreeQuarters, true>();
    f.template operator()<kWindow, kThreeQuarters, false>();
  };
  if (!block.three_quarters) return with_stream.template operator()<0, false>();
  if (block.window == 3) return with_stream.template operator()<3, true>();
  if (block.window == 5) return with_stream.template operator()<5, true>();
  with_stream.template operator()<0, true>();
}

// exact: the same for such rows as square_rows() refuses.
void forward_chunk(const LrnBlock& block, int64_t rows, const float* x, float* scratch, float* y,
                   const LrnExact& exact) {
  with_constants(block, [&]<int kWindow, bool kThreeQuarters, bool kStream>() HWY_ATTR {
    for (int64_t row = 0; row < rows; row += block.rows) {
      const int64_t count = std::min(block.rows, rows - row), at = row * block.cols;
      if (!square_rows(block, count, x + at, scratch)) {
        exact.forward(count, x + at, y + at);
        continue;
      }
      forward_rows<kWindow, kThreeQuarters, kStream>(block, count, x + at, scratch, y + at);
    }
    flush<kStream>();
  });
}

void backward_chunk(const LrnBlock& block, int64_t rows, const float* x, const float* dy, float* scratch, float* dx,
                    const LrnExact& exact) {
  float *shares = scratch + block.rows * block.pitch, *first = shares + block.rows * block.pitch;
  with_constants(block, [&]<int kWindow, bool kThreeQuarters, bool kStream>() HWY_ATTR {
    for (int64_t row = 0; row < rows; row += block.rows) {
      const int64_t count = std::min(block.rows, rows - row), at = row * block.cols;
      if (!square_rows(block, count, x + at, scratch)) {
        exact.backward(count, x + at, dy + at, dx + at);
        continue;
      }
      backward_first<kWindow, kThreeQuarters>(block, count, x + at, dy + at, scratch, shares, first);
      backward_second<kWindow, kStream>(block, count, x + at, shares, first, dx + at);
    }
    flush<kStream>();
  });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

namespace {

// f(block, rows, offset of the first, scratch) for chunks of rows; the scratch arrays hold zeros where windows reach
// beyond the channels.
template <class F>
void for_each_chunk(Context& context, const LrnShape& shape, int arrays, const float* result, F&& f) {
  const LrnBlock block(shape, arrays, worth_streaming(result, shape.count()));
  const int64_t chunks = std::min(shape.rows, chunk_count(shape.count(), kChunkElements));
  Workspace workspace(context);
  const int64_t threads = threads_for(context, chunks);
  float* scratch = workspace.take<float>(threads * block.scratch());
  std::fill_n(scratch, threads * block.scratch(), 0.0f);
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    const Range range = chunk_range(shape.rows, chunks, chunk);
    f(block, range.end - range.begin, range.begin * shape.cols, scratch + thread * block.scratch());
  });
}

}  // namespace

void lrn_forward(Context& context, const LrnShape& shape, const float* x, float* y) {
  const auto chunk_loop = DNN_PER_ISA(forward_chunk)[context];
  for_each_chunk(context, shape, 1, y, [&](const LrnBlock& block, int64_t rows, int64_t at, float* scratch) {
    chunk_loop(block, rows, x + at, scratch, y + at, LrnExact(shape));
  });
}

// y is computed again: that costs less than to read it.
void lrn_backward(Context& context, const LrnShape& shape, const float* x, const float* dy, float* dx) {
  const auto chunk_loop = DNN_PER_ISA(backward_chunk)[context];
  for_each_chunk(context, shape, 3, dx, [&](const LrnBlock& block, int64_t rows, int64_t at, float* scratch) {
    chunk_loop(block, rows, x + at, dy + at, scratch, dx + at, LrnExact(shape));
  });
}

}  // namespace dnn::cpu
#endif
