// Batch normalisation, backward: the sums over the rows in one pass over x and dy, the input gradient in a second.
//   z = (x - mean) * scale + bias, scale = weight * inv_std, dz = dy * activation'(z)
//   dbias = sum of dz, dweight = inv_std * sum of dz * (x - mean)
//   dx = scale * (dz + slope * (x - mean) + offset), where the last two are 0 but in training
// dz is computed twice, which costs less than to store it and read it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/batch_norm_backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include <kernels/cpu/activation_exact.h>
#include <kernels/cpu/batch_norm.h>
#include <kernels/cpu/column_split.h>
#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

// dy * activation'(z) at element `at`, column i; centred = x - mean there.
template <UnaryOp kActivation, bool kFromY, class D, class V = hn::Vec<D>>
HWY_INLINE V dz_at(D d, const NormOperands& in, int64_t at, int64_t i, V centred) {
  const V dy = hn::LoadU(d, in.dy + at);
  if constexpr (kActivation == UnaryOp::none) {
    return dy;
  } else if constexpr (kFromY) {
    return activation_backward<kActivation>(d, hn::LoadU(d, in.y + at), dy);
  } else {
    const V z = hn::MulAdd(centred, hn::LoadU(d, in.scale + i), hn::LoadU(d, in.bias + i));
    if constexpr (slope_from_output(kActivation)) {
      return activation_backward<kActivation>(d, activate<kActivation>(d, z), dy);
    } else {
      return activation_backward<kActivation>(d, z, dy);
    }
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V centred_at(D d, const NormOperands& in, int64_t at, int64_t i) {
  return hn::Sub(hn::LoadU(d, in.x + at), hn::LoadU(d, in.mean + i));
}

// sums[c] += dz and products[c] += dz * (x - mean) over kRows rows.
template <UnaryOp kActivation, bool kFromY, bool kDz, int kRows>
HWY_INLINE void add_rows(const NormOperands& in, int64_t row, int width, int64_t pitch, float* dz, float* sums,
                         float* products) {
  for_vectors(width, [&](auto d, int64_t i) HWY_ATTR {
    auto sum = hn::LoadU(d, sums + i), product = hn::LoadU(d, products + i);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const int64_t at = (row + r) * pitch + i;
      const auto centred = centred_at(d, in, at, i);
      const auto v = dz_at<kActivation, kFromY>(d, in, at, i, centred);
      if constexpr (kDz) hn::StoreU(v, d, dz + at);
      sum = hn::Add(sum, v);
      product = hn::MulAdd(v, centred, product);
    }
    hn::StoreU(sum, d, sums + i);
    hn::StoreU(product, d, products + i);
  });
}

// In float over some rows, in double over these. `scratch` has room for two rows, totals for the sums and the products.
template <UnaryOp kActivation, bool kFromY, bool kDz>
void sums_loop(const NormOperands& in, int64_t rows, int width, int64_t pitch, float* dz, float* scratch,
               double* totals) {
  constexpr int64_t kRowsOfFloatSums = 64;
  for (int64_t begin = 0; begin < rows; begin += kRowsOfFloatSums) {
    const int64_t end = std::min(rows, begin + kRowsOfFloatSums);
    std::fill_n(scratch, 2 * width, 0.0f);
    int64_t row = begin;
    if constexpr (kActivation == UnaryOp::none || kActivation == UnaryOp::relu ||
                  kActivation == UnaryOp::relu6) {  // bound by memory
      for (; row + 4 <= end; row += 4) {
        add_rows<kActivation, kFromY, kDz, 4>(in, row, width, pitch, dz, scratch, scratch + width);
      }
    }
    for (; row < end; ++row) {
      add_rows<kActivation, kFromY, kDz, 1>(in, row, width, pitch, dz, scratch, scratch + width);
    }
    for (int c = 0; c < 2 * width; ++c) totals[c] += scratch[c];
  }
}

void sums_chunk(Activation activation, const NormOperands& in, int64_t rows, int width, int64_t pitch, float* dz,
                float* scratch, double* totals) {
  with_activation(activation, [&]<UnaryOp kActivation>() HWY_ATTR {
    if constexpr (stores_dz(kActivation)) {
      if (dz) return sums_loop<kActivation, true, true>(in, rows, width, pitch, dz, scratch, totals);
    }
    if constexpr (slope_from_output(kActivation)) {
      if (in.y) return sums_loop<kActivation, true, false>(in, rows, width, pitch, dz, scratch, totals);
    }
    HWY_DASSERT(!dz && !in.y);
    sums_loop<kActivation, false, false>(in, rows, width, pitch, dz, scratch, totals);
  });
}

template <UnaryOp kActivation, bool kFromY, bool kTraining, bool kStream>
void dx_loop(const NormOperands& in, int64_t rows, int width, int64_t pitch, const float* slope, const float* offset,
             float* dx) {
  for (int64_t row = 0; row < rows; ++row) {
    for_vectors(width, [&](auto d, int64_t i) HWY_ATTR {
      const int64_t at = row * pitch + i;
      const auto scale = hn::LoadU(d, in.scale + i);
      if constexpr (kTraining) {
        const auto centred = centred_at(d, in, at, i);
        const auto dz = dz_at<kActivation, kFromY>(d, in, at, i, centred);
        const auto of_statistics = hn::MulAdd(centred, hn::LoadU(d, slope + i), hn::LoadU(d, offset + i));
        store<kStream>(hn::Mul(hn::Add(dz, of_statistics), scale), d, dx + at);
      } else {
        constexpr bool kNeedsX = kActivation != UnaryOp::none && !kFromY;
        const auto centred = kNeedsX ? centred_at(d, in, at, i) : hn::Zero(d);
        store<kStream>(hn::Mul(dz_at<kActivation, kFromY>(d, in, at, i, centred), scale), d, dx + at);
      }
    });
  }
  flush<kStream>();
}

template <UnaryOp kActivation, bool kFromY, bool kTraining>
void dx_stores(const NormOperands& in, bool stream, int64_t rows, int width, int64_t pitch, const float* slope,
               const float* offset, float* dx) {
  if constexpr (kActivation == UnaryOp::none || kActivation == UnaryOp::relu) {
    if (stream) return dx_loop<kActivation, kFromY, kTraining, true>(in, rows, width, pitch, slope, offset, dx);
  }
  dx_loop<kActivation, kFromY, kTraining, false>(in, rows, width, pitch, slope, offset, dx);
}

// slope is null but in training. `stream`: see store().
void dx_chunk(Activation activation, const NormOperands& in, bool stream, int64_t rows, int width, int64_t pitch,
              const float* slope, const float* offset, float* dx) {
  with_activation(activation, [&]<UnaryOp kActivation>() HWY_ATTR {
    if constexpr (slope_from_output(kActivation) && kActivation != UnaryOp::none) {
      if (in.y && slope) {
        return dx_stores<kActivation, true, true>(in, stream, rows, width, pitch, slope, offset, dx);
      }
      if (in.y) return dx_stores<kActivation, true, false>(in, stream, rows, width, pitch, slope, offset, dx);
    }
    if (slope) return dx_stores<kActivation, false, true>(in, stream, rows, width, pitch, slope, offset, dx);
    dx_stores<kActivation, false, false>(in, stream, rows, width, pitch, slope, offset, dx);
  });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// sets[s * 2 * cols + c] and, cols further, the products: the sums of set s. Stores dz where it is not null.
void add_up(Context& context, const ColumnSplit& split, Activation activation, const NormOperands& in, float* dz,
            double* sets) {
  const auto chunk_loop = DNN_PER_ISA(sums_chunk)[context];
  const int64_t width = split.width(), threads = threads_for(context, split.chunks()), cols = split.cols;
  Workspace workspace(context);
  float* all_scratch = workspace.take<float>(2 * width * threads);
  double* all_totals = workspace.take<double>(2 * width * threads);
  std::fill_n(sets, split.row_chunks * 2 * cols, 0.0);
  parallel_for(context, split.chunks(), [&](int64_t chunk, int thread) {
    double* totals = all_totals + 2 * width * thread;
    split.for_runs(chunk, [&](int64_t at, int64_t col, int64_t rows, int run_width, int64_t pitch) {
      std::fill_n(totals, 2 * run_width, 0.0);
      chunk_loop(activation, in.from(at, col), rows, run_width, pitch, dz ? dz + at : nullptr,
                 all_scratch + 2 * width * thread, totals);
      double* set = sets + split.set_of(chunk) * 2 * cols + col;
      split.add_run(run_width, totals, set);
      split.add_run(run_width, totals + run_width, set + cols);
    });
  });
}

// The sums of a column, of dz and of dz * (x - mean), in double, for one where a float has overflowed on the way. Both
// stay as they are where an operand itself is not finite.
void exact_sums(const RowsShape& shape, Activation activation, const NormOperands& in, int64_t col, double mean,
                double& sum, double& product) {
  double dz_sum = 0, dz_product = 0;
  for (int64_t at = col; at < shape.count(); at += shape.cols) {
    double saved = (in.x[at] - double{in.mean[col]}) * in.scale[col] + in.bias[col];  // z
    if (slope_from_output(activation)) saved = in.y ? in.y[at] : exact_activation(activation, saved);
    const double dz = in.dy[at] * exact_slope(activation, saved), centred = in.x[at] - mean;
    if (!std::isfinite(dz) || !std::isfinite(centred)) return;
    dz_sum += dz;
    dz_product += dz * centred;
  }
  sum = dz_sum;
  product = dz_product;
}

}  // namespace

void batch_norm_backward(Context& context, const RowsShape& shape, const BatchNormParams& params, Activation activation,
                         const float* x, const float* mean, const float* inv_std, const float* weight,
                         const float* bias, const float* y, const float* dy, float* dx, float* dresidual,
                         float* dweight, float* dbias) {
  const ColumnSplit split(shape);
  const int64_t cols = shape.cols, width = split.width();
  Workspace workspace(context);
  float* columns = workspace.take<float>(5 * width);
  float *centre = columns, *scale = centre + width, *shift = scale + width, *slope = shift + width,
        *offset = slope + width;
  const bool training = params.training;
  for (int64_t c = 0; c < cols; ++c) {
    const bool fits = !training || differences_fit(shape.rows, inv_std[c]);
    centre[c] = fits ? mean[c] : 0;
    scale[c] = weight ? weight[c] * inv_std[c] : inv_std[c];
    shift[c] = (bias ? bias[c] : 0) - (fits ? 0 : mean[c] * scale[c]);
  }
  for (float* values : {centre, scale, shift}) split.repeat(values);
  NormOperands in{x, y, dy, centre, scale, shift};

  if (dresidual && !stores_dz(activation.op)) {  // a pass of its own
    unary_backward(context, activation, shape.count(), y, dy, dresidual);
    in.dy = dresidual;
    activation = Activation::none;
    dresidual = nullptr;
  }
  if (dweight || dbias || dresidual || (training && dx)) {
    double* sets = workspace.take<double>(split.row_chunks * 2 * cols);
    add_up(context, split, activation, in, dresidual, sets);
    for (int64_t c = 0; c < cols; ++c) {
      double sum = 0, product = 0;
      for (int64_t set = 0; set < split.row_chunks; ++set) {
        sum += sets[set * 2 * cols + c];
        product += sets[set * 2 * cols + cols + c];
      }
      if (centre[c] != mean[c] || !std::isfinite(sum) || !std::isfinite(product)) {
        const NormOperands stored{x,      nullptr, dresidual,
                                  centre, scale,   shift};  // dz is in dresidual where that is wanted
        exact_sums(shape, dresidual ? Activation::none : activation, dresidual ? stored : in, c, mean[c], sum, product);
      }
      const double inverse = inv_std[c], of_rows = -1 / static_cast<double>(std::max<int64_t>(shape.rows, 1));
      if (dweight) dweight[c] = static_cast<float>(inverse * product);
      if (dbias) dbias[c] = static_cast<float>(sum);
      const double by_difference = of_rows * inverse * inverse * product;
      slope[c] = static_cast<float>(by_difference);
      offset[c] = static_cast<float>(of_rows * sum + by_difference * (double{centre[c]} - mean[c]));
    }
    for (float* values : {slope, offset}) split.repeat(values);
  }
  if (!dx) return;
  if (dresidual) {  // dz is there
    in.dy = dresidual;
    activation = Activation::none;
  }
  const auto chunk_loop = DNN_PER_ISA(dx_chunk)[context];
  const bool stream =
      dx != dy && split.col_chunks == 1 && width % kLineFloats == 0 && worth_streaming(dx, shape.count());
  parallel_for(context, split.chunks(), [&](int64_t chunk, int) {
    split.for_runs(chunk, [&](int64_t at, int64_t col, int64_t rows, int run_width, int64_t pitch) {
      chunk_loop(activation, in.from(at, col), stream && run_width == width, rows, run_width, pitch,
                 training ? slope + col : nullptr, offset + col, dx + at);
    });
  });
}

}  // namespace dnn::cpu
#endif
