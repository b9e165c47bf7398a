// Softmax and its logarithm over rows, with the row's largest value taken off first, and their gradients from y:
//   softmax:      y = exp(x - m) / sum exp(x - m)        dx = y * (dy - sum dy * y)
//   log_softmax:  y = x - m - log(sum exp(x - m))        dx = dy - exp(y) * sum dy
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/softmax-inl.h>
#include <kernels/parallel.h>

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
    const auto centred = hn::Sub(hn::LoadU(d, dy + i), hn::Set(d, mean));
    hn::StoreU(hn::Mul(hn::LoadU(d, y + i), centred), d, dx + i);
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

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// f(rows, offset of the first) for the rows of each chunk.
template <class F>
void for_row_chunks(Context& context, const RowsShape& shape, F&& f) {
  const int64_t chunks = std::min(shape.rows, chunk_count(shape.count(), kChunkElements / 2));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(shape.rows, chunks, chunk);
    f(range.end - range.begin, range.begin * shape.cols);
  });
}

}  // namespace

void softmax_forward(Context& context, const RowsShape& shape, const float* x, float* y) {
  const auto row_loop = DNN_PER_ISA(softmax_rows)[context];
  for_row_chunks(context, shape, [&](int64_t rows, int64_t at) { row_loop(rows, shape.cols, x + at, y + at); });
}

void log_softmax_forward(Context& context, const RowsShape& shape, const float* x, float* y) {
  const auto row_loop = DNN_PER_ISA(log_softmax_rows)[context];
  for_row_chunks(context, shape, [&](int64_t rows, int64_t at) { row_loop(rows, shape.cols, x + at, y + at); });
}

void softmax_backward(Context& context, const RowsShape& shape, const float* y, const float* dy, float* dx) {
  const auto row_loop = DNN_PER_ISA(softmax_backward_rows)[context];
  for_row_chunks(context, shape,
                 [&](int64_t rows, int64_t at) { row_loop(rows, shape.cols, y + at, dy + at, dx + at); });
}

void log_softmax_backward(Context& context, const RowsShape& shape, const float* y, const float* dy, float* dx) {
  const auto row_loop = DNN_PER_ISA(log_softmax_backward_rows)[context];
  for_row_chunks(context, shape,
                 [&](int64_t rows, int64_t at) { row_loop(rows, shape.cols, y + at, dy + at, dx + at); });
}

}  // namespace dnn::cpu
#endif
