// Softmax and its logarithm along one dimension, with the largest value there taken off first, and their gradients from
// y:
//   softmax:      y = exp(x - m) / sum exp(x - m)        dx = y * (dy - sum dy * y)
//   log_softmax:  y = x - m - log(sum exp(x - m))        dx = dy - exp(y) * sum dy
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include <kernels/cpu/axis_blocks.h>
#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/softmax-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

void softmax_row(int cols, const float* x, float* y) {
  const double sum = exp_row(cols, largest_of(cols, x), x, y);
  scale_row(cols, static_cast<float>(1 / sum), y);
}

void log_softmax_row(int cols, const float* x, float* y) {
  const float largest = largest_of(cols, x);
  const float log_sum = static_cast<float>(std::log(exp_sum(cols, largest, x)));
  for_vectors(cols, [&](auto d, int64_t i) HWY_ATTR {
    const auto shifted = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, largest));
    hn::StoreU(hn::Sub(shifted, hn::Set(d, log_sum)), d, y + i);
  });
}

void softmax_backward_row(int cols, const float* y, const float* dy, float* dx) {
  const double dot =
      sum_blocks(cols, [&](auto d, int64_t i) HWY_ATTR { return hn::Mul(hn::LoadU(d, y + i), hn::LoadU(d, dy + i)); });
  const float mean = static_cast<float>(dot);
  for_vectors(cols, [&](auto d, int64_t i) HWY_ATTR {
    const auto centered = hn::Sub(hn::LoadU(d, dy + i), hn::Set(d, mean));
    hn::StoreU(hn::Mul(hn::LoadU(d, y + i), centered), d, dx + i);
  });
}

void log_softmax_backward_row(int cols, const float* y, const float* dy, float* dx) {
  const float sum =
      static_cast<float>(sum_blocks(cols, [&](auto d, int64_t i) HWY_ATTR { return hn::LoadU(d, dy + i); }));
  for_vectors(cols, [&](auto d, int64_t i) HWY_ATTR {
    const auto p = exp_of_negative(d, hn::LoadU(d, y + i));
    hn::StoreU(hn::NegMulAdd(p, hn::Set(d, sum), hn::LoadU(d, dy + i)), d, dx + i);
  });
}

// Rows, whose values lie side by side.
void softmax_rows(int64_t rows, int cols, const float* x, float* y) {
  for (int64_t row = 0; row < rows; ++row) softmax_row(cols, x + row * cols, y + row * cols);
}

void log_softmax_rows(int64_t rows, int cols, const float* x, float* y) {
  for (int64_t row = 0; row < rows; ++row) log_softmax_row(cols, x + row * cols, y + row * cols);
}

void softmax_backward_rows(int64_t rows, int cols, const float* y, const float* dy, float* dx) {
  for (int64_t row = 0; row < rows; ++row) {
    softmax_backward_row(cols, y + row * cols, dy + row * cols, dx + row * cols);
  }
}

void log_softmax_backward_rows(int64_t rows, int cols, const float* y, const float* dy, float* dx) {
  for (int64_t row = 0; row < rows; ++row) {
    log_softmax_backward_row(cols, y + row * cols, dy + row * cols, dx + row * cols);
  }
}

// Columns, side by side in vectors: the values of one are `pitch` apart.

// The sum of f(j): in float for some values at a time, so that a long sum loses no more than a short one.
template <class D, class F>
HWY_INLINE hn::Vec<D> column_sum(D d, int size, F&& f) {
  constexpr int kBlock = 256;
  auto total = hn::Zero(d);
  for (int begin = 0; begin < size; begin += kBlock) {
    auto sum = hn::Zero(d);
    for (int j = begin; j < std::min(size, begin + kBlock); ++j) sum = hn::Add(sum, f(j));
    total = hn::Add(total, sum);
  }
  return total;
}

template <class D>
HWY_INLINE hn::Vec<D> column_largest(D d, int size, int64_t pitch, const float* x) {
  auto largest = hn::LoadU(d, x);
  for (int j = 1; j < size; ++j) largest = hn::Max(largest, hn::LoadU(d, x + j * pitch));
  return largest;
}

void softmax_columns(int size, int64_t pitch, int64_t width, const float* x, float* y) {
  for_vectors(width, [&](auto d, int64_t i) HWY_ATTR {
    const auto largest = column_largest(d, size, pitch, x + i);
    const auto sum = column_sum(d, size, [&](int j) HWY_ATTR {
      const auto e = exp_of_negative(d, hn::Sub(hn::LoadU(d, x + j * pitch + i), largest));
      hn::StoreU(e, d, y + j * pitch + i);
      return e;
    });
    const auto scale = hn::Div(hn::Set(d, 1.0f), sum);
    for (int j = 0; j < size; ++j) {
      hn::StoreU(hn::Mul(scale, hn::LoadU(d, y + j * pitch + i)), d, y + j * pitch + i);
    }
  });
}

void log_softmax_columns(int size, int64_t pitch, int64_t width, const float* x, float* y) {
  for_vectors(width, [&](auto d, int64_t i) HWY_ATTR {
    const auto largest = column_largest(d, size, pitch, x + i);
    const auto sum = column_sum(
        d, size, [&](int j) HWY_ATTR { return exp_of_negative(d, hn::Sub(hn::LoadU(d, x + j * pitch + i), largest)); });
    const auto log_sum = hn::IfThenElse(hn::IsNaN(sum), sum, hn::Log(d, sum));
    for (int j = 0; j < size; ++j) {
      const auto shifted = hn::Sub(hn::LoadU(d, x + j * pitch + i), largest);
      hn::StoreU(hn::Sub(shifted, log_sum), d, y + j * pitch + i);
    }
  });
}

void softmax_backward_columns(int size, int64_t pitch, int64_t width, const float* y, const float* dy, float* dx) {
  for_vectors(width, [&](auto d, int64_t i) HWY_ATTR {
    const auto dot = column_sum(d, size, [&](int j) HWY_ATTR {
      return hn::Mul(hn::LoadU(d, y + j * pitch + i), hn::LoadU(d, dy + j * pitch + i));
    });
    for (int j = 0; j < size; ++j) {
      const auto centered = hn::Sub(hn::LoadU(d, dy + j * pitch + i), dot);
      hn::StoreU(hn::Mul(hn::LoadU(d, y + j * pitch + i), centered), d, dx + j * pitch + i);
    }
  });
}

void log_softmax_backward_columns(int size, int64_t pitch, int64_t width, const float* y, const float* dy, float* dx) {
  for_vectors(width, [&](auto d, int64_t i) HWY_ATTR {
    const auto sum = column_sum(d, size, [&](int j) HWY_ATTR { return hn::LoadU(d, dy + j * pitch + i); });
    for (int j = 0; j < size; ++j) {
      const auto p = exp_of_negative(d, hn::LoadU(d, y + j * pitch + i));
      hn::StoreU(hn::NegMulAdd(p, sum, hn::LoadU(d, dy + j * pitch + i)), d, dx + j * pitch + i);
    }
  });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// rows(rows, size, pointers...) for the rows of each chunk, or columns(size, pitch, width, pointers...) for its
// columns.
template <class Rows, class Columns, class... Pointers>
void along_axis(Context& context, const AxisShape& shape, Rows rows, Columns columns, Pointers... pointers) {
  constexpr int64_t kGrain = kChunkElements / 2;  // exp() is more work than memory
  if (shape.inner == 1) {
    const auto rows_of = [&](Range lines) {
      rows[context](lines.end - lines.begin, shape.size, (pointers + lines.begin * shape.size)...);
    };
    return for_each_chunk_of_lines(context, shape, rows_of, kGrain);
  }
  for_each_block(context, shape, AxisBlocks(shape, kGrain), [&](const AxisBlocks::Block& block, int64_t at, int) {
    columns[context](shape.size, shape.inner, block.width, (pointers + at)...);
  });
}

}  // namespace

void softmax_forward(Context& context, const AxisShape& shape, const float* x, float* y) {
  along_axis(context, shape, DNN_PER_ISA(softmax_rows), DNN_PER_ISA(softmax_columns), x, y);
}

void softmax_backward(Context& context, const AxisShape& shape, const float* y, const float* dy, float* dx) {
  along_axis(context, shape, DNN_PER_ISA(softmax_backward_rows), DNN_PER_ISA(softmax_backward_columns), y, dy, dx);
}

void log_softmax_forward(Context& context, const AxisShape& shape, const float* x, float* y) {
  along_axis(context, shape, DNN_PER_ISA(log_softmax_rows), DNN_PER_ISA(log_softmax_columns), x, y);
}

void log_softmax_backward(Context& context, const AxisShape& shape, const float* y, const float* dy, float* dx) {
  along_axis(context, shape, DNN_PER_ISA(log_softmax_backward_rows), DNN_PER_ISA(log_softmax_backward_columns), y, dy,
             dx);
}

}  // namespace dnn::cpu
#endif
