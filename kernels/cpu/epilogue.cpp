// y = activation(x + bias + residual), and from y its gradient and that of the bias; one pass over memory.
// Rows of few columns are taken several at a time, as one row of whole vectors with the bias repeated.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/epilogue.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <UnaryOp kActivation, bool kBias, bool kResidual, bool kStream>
void epilogue_loop(int64_t count, int width, const float* bias, const float* residual, const float* x, float* y) {
  for (int64_t row = 0; row < count; row += width) {
    for_vectors(std::min<int64_t>(width, count - row), [&](auto d, int64_t i) HWY_ATTR {
      auto v = hn::LoadU(d, x + row + i);
      if constexpr (kBias) v = hn::Add(v, hn::LoadU(d, bias + i));
      if constexpr (kResidual) v = hn::Add(v, hn::LoadU(d, residual + row + i));
      store<kStream>(activate<kActivation>(d, v), d, y + row + i);
    });
  }
  flush<kStream>();
}

// For activations that compute for longer than it takes to see which operands there are.
template <UnaryOp kActivation>
void epilogue_any(int64_t count, int width, const float* bias, const float* residual, const float* x, float* y) {
  for (int64_t row = 0; row < count; row += width) {
    for_vectors(std::min<int64_t>(width, count - row), [&](auto d, int64_t i) HWY_ATTR {
      auto v = hn::LoadU(d, x + row + i);
      if (bias) v = hn::Add(v, hn::LoadU(d, bias + i));
      if (residual) v = hn::Add(v, hn::LoadU(d, residual + row + i));
      hn::StoreU(activate<kActivation>(d, v), d, y + row + i);
    });
  }
}

template <UnaryOp kActivation, bool kStream>
void epilogue_operands(int64_t count, int width, const float* bias, const float* residual, const float* x, float* y) {
  if (bias && residual) return epilogue_loop<kActivation, true, true, kStream>(count, width, bias, residual, x, y);
  if (bias) return epilogue_loop<kActivation, true, false, kStream>(count, width, bias, residual, x, y);
  if (residual) return epilogue_loop<kActivation, false, true, kStream>(count, width, bias, residual, x, y);
  return epilogue_loop<kActivation, false, false, kStream>(count, width, bias, residual, x, y);
}

// The first `count` values of rows of `width`. `stream`: see store().
void epilogue_chunk(Activation activation, bool stream, int64_t count, int width, const float* bias,
                    const float* residual, const float* x, float* y) {
  with_activation(activation, [&]<UnaryOp kActivation>() HWY_ATTR {
    if constexpr (kActivation == UnaryOp::none || kActivation == UnaryOp::relu) {
      if (stream) return epilogue_operands<kActivation, true>(count, width, bias, residual, x, y);
      epilogue_operands<kActivation, false>(count, width, bias, residual, x, y);
    } else {
      epilogue_any<kActivation>(count, width, bias, residual, x, y);
    }
  });
}

// One row: dz = dy * activation'(y); sums += dz.
template <UnaryOp kActivation, bool kDz, bool kSums>
HWY_INLINE void backward_row(int64_t width, const float* y, const float* dy, float* dz, float* sums) {
  for_vectors(width, [&](auto d, int64_t i) HWY_ATTR {
    auto v = hn::LoadU(d, dy + i);
    if constexpr (kActivation != UnaryOp::none) v = activation_backward<kActivation>(d, hn::LoadU(d, y + i), v);
    if constexpr (kDz) hn::StoreU(v, d, dz + i);
    if constexpr (kSums) hn::StoreU(hn::Add(v, hn::LoadU(d, sums + i)), d, sums + i);
  });
}

// Rows of `width` values, `pitch` apart. `sums` is scratch for float sums of a few rows, `totals` takes them all.
template <UnaryOp kActivation, bool kDz, bool kSums>
void backward_loop(int64_t rows, int width, int64_t pitch, const float* y, const float* dy, float* dz, float* sums,
                   double* totals) {
  constexpr int64_t kRowsOfFloatSums = 64;
  for (int64_t row0 = 0; row0 < rows; row0 += kRowsOfFloatSums) {
    if (kSums) std::fill_n(sums, width, 0.0f);
    for (int64_t row = row0; row < std::min(rows, row0 + kRowsOfFloatSums); ++row) {
      const int64_t at = row * pitch;
      backward_row<kActivation, kDz, kSums>(width, kActivation == UnaryOp::none ? nullptr : y + at, dy + at,
                                            kDz ? dz + at : nullptr, sums);
    }
    if (kSums) {
      for (int i = 0; i < width; ++i) totals[i] += sums[i];
    }
  }
}

template <UnaryOp kActivation>
void backward_results(int64_t rows, int width, int64_t pitch, const float* y, const float* dy, float* dz, float* sums,
                      double* totals) {
  if (dz && totals) return backward_loop<kActivation, true, true>(rows, width, pitch, y, dy, dz, sums, totals);
  if (dz) return backward_loop<kActivation, true, false>(rows, width, pitch, y, dy, dz, sums, totals);
  if (totals) return backward_loop<kActivation, false, true>(rows, width, pitch, y, dy, dz, sums, totals);
}

void backward_chunk(Activation activation, int64_t rows, int width, int64_t pitch, const float* y, const float* dy,
                    float* dz, float* sums, double* totals) {
  with_activation(activation, [&]<UnaryOp kActivation>() HWY_ATTR {
    if constexpr (slope_from_output(kActivation)) {
      backward_results<kActivation>(rows, width, pitch, y, dy, dz, sums, totals);
    }
  });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// dz and dbias with the rows split between the chunks, a bias gradient for each of them.
void backward_by_rows(Context& context, const RowsShape& shape, int64_t chunks, Activation activation, const float* y,
                      const float* dy, float* dz, float* dbias) {
  const auto chunk_loop = DNN_PER_ISA(backward_chunk)[context];
  const int cols = shape.cols, group = rows_at_once(cols), width = group * cols;
  const int64_t groups = (shape.rows + group - 1) / group;
  Workspace workspace(context);
  const int threads = threads_for(context, chunks);
  float* all_sums = dbias ? workspace.take<float>(int64_t{threads} * width) : nullptr;
  double* all_totals = dbias ? workspace.take<double>(int64_t{threads} * width) : nullptr;
  double* partial = dbias ? workspace.take<double>(chunks * cols) : nullptr;
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    const Range range = chunk_range(groups, chunks, chunk);
    const int64_t begin = range.begin * width, end = std::min(shape.count(), range.end * width);
    float* sums = dbias ? all_sums + int64_t{thread} * width : nullptr;
    double* totals = dbias ? all_totals + int64_t{thread} * width : nullptr;
    if (dbias) std::fill_n(totals, width, 0.0);
    const auto run = [&](int64_t at, int64_t rows, int row_width) {
      chunk_loop(activation, rows, row_width, row_width, y ? y + at : nullptr, dy + at, dz ? dz + at : nullptr, sums,
                 totals);
    };
    const int64_t whole = (end - begin) / width, rest = (end - begin) % width;
    run(begin, whole, width);
    if (rest > 0) run(begin + whole * width, 1, static_cast<int>(rest));
    if (!dbias) return;
    for (int c = 0; c < cols; ++c) {
      double total = 0;
      for (int row = 0; row < group; ++row) total += totals[row * cols + c];
      partial[chunk * cols + c] = total;
    }
  });
  if (!dbias) return;
  for (int c = 0; c < cols; ++c) {
    double total = 0;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) total += partial[chunk * cols + c];
    dbias[c] = static_cast<float>(total);
  }
}

// The same with the columns split: for few rows of many columns.
void backward_by_columns(Context& context, const RowsShape& shape, int64_t chunks, Activation activation,
                         const float* y, const float* dy, float* dz, float* dbias) {
  const auto chunk_loop = DNN_PER_ISA(backward_chunk)[context];
  Workspace workspace(context);
  float* sums = workspace.take<float>(shape.cols);
  double* totals = workspace.take<double>(shape.cols);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const auto [begin, end] = line_range(shape.cols, chunks, chunk);
    std::fill(totals + begin, totals + end, 0.0);
    chunk_loop(activation, shape.rows, static_cast<int>(end - begin), shape.cols, y ? y + begin : nullptr, dy + begin,
               dz ? dz + begin : nullptr, sums + begin, totals + begin);
    for (int64_t c = begin; c < end; ++c) dbias[c] = static_cast<float>(totals[c]);
  });
}

}  // namespace

void epilogue(Context& context, const RowsShape& shape, const Epilogue<float>& e, const float* x, float* y) {
  const int64_t count = shape.count();
  if (count == 0) return;
  const auto chunk_loop = DNN_PER_ISA(epilogue_chunk)[context];
  Workspace workspace(context);
  const float* bias = e.bias;
  int width = kChunkElements;  // without a bias, the length of a row does not matter
  if (bias) {
    const int group = rows_at_once(shape.cols);
    width = group * shape.cols;
    if (group > 1) {
      float* repeated = workspace.take<float>(width);
      for (int row = 0; row < group; ++row) std::copy_n(e.bias, shape.cols, repeated + int64_t{row} * shape.cols);
      bias = repeated;
    }
  }
  const int64_t groups = (count + width - 1) / width;
  const int64_t chunks = std::min(groups, chunk_count(count, kChunkElements));
  const bool stream = x != y && width % kLineFloats == 0 && worth_streaming(y, count);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(groups, chunks, chunk);
    const int64_t begin = range.begin * width, end = std::min(count, range.end * width);
    chunk_loop(e.activation, stream, end - begin, width, bias, e.residual ? e.residual + begin : nullptr, x + begin,
               y + begin);
  });
}

void epilogue_backward(Context& context, const RowsShape& shape, Activation activation, const float* y, const float* dy,
                       float* dz, float* dbias) {
  if (activation == Activation::none && dz == dy) dz = nullptr;  // it is there already
  if (!dz && !dbias) return;
  if (dbias && shape.rows == 0) std::fill_n(dbias, shape.cols, 0.0f);
  if (shape.count() == 0) return;
  const int64_t chunks = chunk_count(shape.count(), kChunkElements);
  constexpr int kRowsAPartial = 32;  // a bias gradient a chunk costs little where a chunk has so many rows
  if (dbias && shape.rows < chunks * kRowsAPartial) {
    backward_by_columns(context, shape, std::min(chunks, chunk_count(shape.cols, 2 * kLineFloats)), activation, y, dy,
                        dz, dbias);
  } else {
    backward_by_rows(context, shape, std::min(chunks, shape.rows), activation, y, dy, dz, dbias);
  }
}

}  // namespace dnn::cpu
#endif
