// Elements from strides to strides. Rows that are dense on both sides are copied by vectors; where rows become columns,
// tiles of whole cache lines are transposed in registers, so that both sides are read and written line by line.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/copy_strided.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cassert>
#include <cstring>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/cpu/strided_plan.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <bool kStream>
void dense_loop(int64_t rows, int64_t cols, int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * x_pitch;
    float* to = y + row * y_pitch;
    for_vectors(cols, [=](auto d, int64_t i) HWY_ATTR { store<kStream>(hn::LoadU(d, from + i), d, to + i); });
  }
  flush<kStream>();
}

void dense_rows(bool stream, int64_t rows, int64_t cols, int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  stream ? dense_loop<true>(rows, cols, x_pitch, x, y_pitch, y) : dense_loop<false>(rows, cols, x_pitch, x, y_pitch, y);
}

template <class T>
void transpose_any(int64_t a_size, int64_t b_size, int64_t x_pitch, const T* x, int64_t y_pitch, T* y) {
  for (int64_t a = 0; a < a_size; ++a) {
    for (int64_t b = 0; b < b_size; ++b) y[a * y_pitch + b] = x[b * x_pitch + a];
  }
}

#if HWY_TARGET != HWY_SCALAR

// 8 x 8 values.
HWY_INLINE void transpose_8x8(int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  const hn::CappedTag<float, 8> d;
  const hn::Repartition<uint64_t, decltype(d)> pairs;
  hn::Vec<decltype(d)> row[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) row[i] = hn::LoadU(d, x + i * x_pitch);
  const auto join = [&](auto low, auto high, bool upper) HWY_ATTR {
    const auto l = hn::BitCast(pairs, low), h = hn::BitCast(pairs, high);
    return hn::BitCast(d, upper ? hn::InterleaveUpper(pairs, l, h) : hn::InterleaveLower(pairs, l, h));
  };
  // quad[i]: column i of the first four rows in its lower half, column i + 4 in its upper; quad[i + 4] of the others.
  hn::Vec<decltype(d)> quad[8];
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    const auto low_01 = hn::InterleaveLower(d, row[i], row[i + 1]),
               high_01 = hn::InterleaveUpper(d, row[i], row[i + 1]);
    const auto low_23 = hn::InterleaveLower(d, row[i + 2], row[i + 3]);
    const auto high_23 = hn::InterleaveUpper(d, row[i + 2], row[i + 3]);
    quad[i] = join(low_01, low_23, false);
    quad[i + 1] = join(low_01, low_23, true);
    quad[i + 2] = join(high_01, high_23, false);
    quad[i + 3] = join(high_01, high_23, true);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    hn::StoreU(hn::ConcatLowerLower(d, quad[i + 4], quad[i]), d, y + i * y_pitch);
    hn::StoreU(hn::ConcatUpperUpper(d, quad[i + 4], quad[i]), d, y + (i + 4) * y_pitch);
  }
}

#endif

void transpose_floats(int64_t a_size, int64_t b_size, int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  int64_t b_done = 0, a_done = 0;
#if HWY_TARGET != HWY_SCALAR
  b_done = b_size / 8 * 8;
  a_done = a_size / 8 * 8;
  for (int64_t b0 = 0; b0 < b_done; b0 += kLineFloats) {
    for (int64_t a0 = 0; a0 < a_done; a0 += kLineFloats) {
      for (int64_t a = a0; a < std::min(a0 + kLineFloats, a_done); a += 8) {
        for (int64_t b = b0; b < std::min(b0 + kLineFloats, b_done); b += 8) {
          transpose_8x8(x_pitch, x + b * x_pitch + a, y_pitch, y + a * y_pitch + b);
        }
      }
    }
  }
#endif
  transpose_any(a_done, b_size - b_done, x_pitch, x + b_done * x_pitch, y_pitch, y + b_done);
  transpose_any(a_size - a_done, b_size, x_pitch, x + a_done, y_pitch, y + a_done * y_pitch);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// f(rows, begin, end, x_offset, y_offset) for parts of the copy, in parallel: the columns [begin, end) of so many rows,
// the first of which is at the offsets.
template <class F>
void for_rows(const Context& context, const StridedPlan& plan, F&& f) {
  const int64_t all = plan.x_outer.count * plan.rows;
  const int64_t chunks = chunk_count(all * plan.cols, kChunkElements);
  if (all < chunks) {  // few, long ones
    const int64_t pieces = (chunks + all - 1) / all;
    parallel_for(context, all * pieces, [&](int64_t chunk, int) {
      const int64_t row = chunk / pieces % plan.rows, outer = chunk / pieces / plan.rows;
      const auto [begin, end] = line_range(plan.cols, pieces, chunk % pieces);
      f(1, begin, end, Walk(plan.x_outer, outer).offset() + row * plan.x_pitch,
        Walk(plan.y_outer, outer).offset() + row * plan.y_pitch);
    });
    return;
  }
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(all, chunks, chunk);
    Walk x(plan.x_outer, range.begin / plan.rows), y(plan.y_outer, range.begin / plan.rows);
    int64_t row = range.begin % plan.rows;
    for (int64_t at = range.begin; at < range.end; row = 0, x.next(), y.next()) {
      const int64_t rows = std::min(plan.rows - row, range.end - at);
      f(rows, int64_t{0}, plan.cols, x.offset() + row * plan.x_pitch, y.offset() + row * plan.y_pitch);
      at += rows;
    }
  });
}

bool whole_lines(const StridedPlan& plan) {
  int64_t all = plan.cols | plan.y_pitch;
  for (int i = 0; i < plan.y_outer.dims; ++i) all |= plan.y_outer.stride[i];
  return all % kLineFloats == 0;
}

// Dense rows, in units of four bytes.
void copy_words(Context& context, const StridedPlan& plan, const float* x, float* y) {
  const auto copy = DNN_PER_ISA(dense_rows)[context];
  const bool one = plan.rows == 1 && plan.x_outer.count == 1;
  const bool stream = (one || whole_lines(plan)) && worth_streaming(y, plan.x_outer.count * plan.rows * plan.cols);
  for_rows(context, plan, [&](int64_t rows, int64_t begin, int64_t end, int64_t from, int64_t to) {
    copy(stream, rows, end - begin, plan.x_pitch, x + from + begin, plan.y_pitch, y + to + begin);
  });
}

void copy_bytes(Context& context, const StridedPlan& plan, const char* x, char* y) {
  for_rows(context, plan, [&](int64_t rows, int64_t begin, int64_t end, int64_t from, int64_t to) {
    for (int64_t row = 0; row < rows; ++row) {
      std::memcpy(y + to + row * plan.y_pitch + begin, x + from + row * plan.x_pitch + begin,
                  static_cast<size_t>(end - begin));
    }
  });
}

void copy_dense(Context& context, StridedPlan plan, int element_size, const void* x, void* y) {
  plan.rescale([=](int64_t elements) { return elements * element_size; });
  constexpr int kWord = 4;
  int64_t all = 0;
  plan.rescale([&](int64_t bytes) {
    all |= bytes;
    return bytes;
  });
  if (all % kWord != 0) return copy_bytes(context, plan, static_cast<const char*>(x), static_cast<char*>(y));
  plan.rescale([](int64_t bytes) { return bytes / kWord; });
  copy_words(context, plan, static_cast<const float*>(x), static_cast<float*>(y));
}

template <class T>
void copy_steps(Context& context, const StridedPlan& plan, const T* x, T* y) {
  for_rows(context, plan, [&](int64_t rows, int64_t begin, int64_t end, int64_t from, int64_t to) {
    for (int64_t row = 0; row < rows; ++row) {
      const T* const in = x + from + row * plan.x_pitch;
      T* const out = y + to + row * plan.y_pitch;
      if (plan.x_step == 0 && plan.y_step == 1) {
        std::fill(out + begin, out + end, *in);
      } else if (plan.y_step == 1) {
        for (int64_t i = begin; i < end; ++i) out[i] = in[i * plan.x_step];
      } else {
        for (int64_t i = begin; i < end; ++i) out[i * plan.y_step] = in[i * plan.x_step];
      }
    }
  });
}

template <class T>
void copy_planes(Context& context, const StridedPlan& plan, const T* x, T* y) {
  const auto block = [&](int64_t a_size, int64_t b_size, const T* from, T* to) {
    if constexpr (std::is_same_v<T, float>) {
      DNN_PER_ISA(transpose_floats)[context](a_size, b_size, plan.x_pitch, from, plan.y_pitch, to);
    } else {
      N_SCALAR::transpose_any(a_size, b_size, plan.x_pitch, from, plan.y_pitch, to);
    }
  };
  // Blocks of about 4096 values, longer where the other side is short.
  constexpr int64_t kSide = 64;
  const auto side = [](int64_t other) {
    return other >= kSide ? kSide : kSide * kSide / other / kLineFloats * kLineFloats;
  };
  const int64_t a_size = plan.rows, b_size = plan.cols, a_side = side(b_size), b_side = side(a_size);
  const int64_t a_blocks = (a_size + a_side - 1) / a_side, b_blocks = (b_size + b_side - 1) / b_side;
  const int64_t tasks = plan.x_outer.count * a_blocks * b_blocks;
  const int64_t chunks = std::min(tasks, chunk_count(plan.x_outer.count * a_size * b_size, kChunkElements));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(tasks, chunks, chunk);
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t a = task % a_blocks * a_side, b = task / a_blocks % b_blocks * b_side;
      const int64_t outer = task / (a_blocks * b_blocks);
      block(std::min(a_side, a_size - a), std::min(b_side, b_size - b),
            x + Walk(plan.x_outer, outer).offset() + b * plan.x_pitch + a,
            y + Walk(plan.y_outer, outer).offset() + a * plan.y_pitch + b);
    }
  });
}

template <class T>
void copy_as(Context& context, const StridedPlan& plan, const void* x, void* y) {
  const T* const from = static_cast<const T*>(x);
  T* const to = static_cast<T*>(y);
  plan.planes ? copy_planes(context, plan, from, to) : copy_steps(context, plan, from, to);
}

}  // namespace

void copy_strided(Context& context, const StridedShape& shape, int element_size, const void* x, void* y) {
  if (shape.count() == 0) return;
  const StridedPlan plan(shape);
  if (plan.dense_rows()) return copy_dense(context, plan, element_size, x, y);
  switch (element_size) {
    case 1:
      return copy_as<uint8_t>(context, plan, x, y);
    case 2:
      return copy_as<uint16_t>(context, plan, x, y);
    case 4:
      return copy_as<float>(context, plan, x, y);
    default:
      assert(element_size == 8);
      return copy_as<double>(context, plan, x, y);
  }
}

}  // namespace dnn::cpu
#endif
