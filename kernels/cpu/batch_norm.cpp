// Batch normalisation, forward: statistics in one pass over memory, the result in a second.
//
// The statistics are accurate for any mean: a run of rows that stays in the cache is taken twice, for its means and
// then for the squares about them, in float; the runs are joined in double by the formula of Chan, Golub and LeVeque
// ("Updating formulae and a pairwise algorithm for computing sample variances", 1979).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/batch_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include <kernels/cpu/batch_norm.h>
#include <kernels/cpu/column_split.h>
#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/column_sums-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

// means[c] = the mean of column c over a run of rows, about: what is left over is found by squares_about().
void rough_means(int64_t rows, int width, int64_t pitch, const float* x, float* means) {
  column_sums(rows, width, pitch, x, means);
  const float factor = 1.0f / static_cast<float>(rows);
  for_vectors(width, [=](auto d, int64_t c)
                         HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, means + c), hn::Set(d, factor)), d, means + c); });
}

// For each column the sum of x - about, and of its square.
void squares_about(int64_t rows, int width, int64_t pitch, const float* x, const float* about, float* sums,
                   float* squares) {
  for_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
    const auto centre = hn::LoadU(d, about + c);
    auto sum0 = hn::Zero(d), sum1 = sum0, square0 = sum0, square1 = sum0;
    const float* at = x + c;
    int64_t row = 0;
    for (; row + 2 <= rows; row += 2, at += 2 * pitch) {
      const auto v0 = hn::Sub(hn::LoadU(d, at), centre), v1 = hn::Sub(hn::LoadU(d, at + pitch), centre);
      sum0 = hn::Add(sum0, v0);
      sum1 = hn::Add(sum1, v1);
      square0 = hn::MulAdd(v0, v0, square0);
      square1 = hn::MulAdd(v1, v1, square1);
    }
    if (row < rows) {
      const auto v = hn::Sub(hn::LoadU(d, at), centre);
      sum0 = hn::Add(sum0, v);
      square0 = hn::MulAdd(v, v, square0);
    }
    hn::StoreU(hn::Add(sum0, sum1), d, sums + c);
    hn::StoreU(hn::Add(square0, square1), d, squares + c);
  });
}

// mean[c] and m2[c], the mean and the sum of squares about it of `before` rows, become those of `rows` more as well.
void join(int64_t before, int64_t rows, int width, const float* about, const float* sums, const float* squares,
          double* mean, double* m2) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const double inverse = 1.0 / static_cast<double>(rows);
  const double share = static_cast<double>(rows) / static_cast<double>(before + rows);
  const double weight = static_cast<double>(before) * share;
  int c = 0;
  for (; c + lanes <= width; c += lanes) {
    const auto sum = hn::PromoteTo(d, hn::LoadU(df, sums + c)), rest = hn::Mul(sum, hn::Set(d, inverse));
    const auto run_mean = hn::Add(hn::PromoteTo(d, hn::LoadU(df, about + c)), rest);
    const auto run_m2 = hn::NegMulAdd(sum, rest, hn::PromoteTo(d, hn::LoadU(df, squares + c)));
    const auto old = hn::LoadU(d, mean + c), step = hn::Sub(run_mean, old);
    hn::StoreU(hn::MulAdd(step, hn::Set(d, share), old), d, mean + c);
    const auto between = hn::Mul(hn::Mul(step, step), hn::Set(d, weight));
    hn::StoreU(hn::Add(hn::LoadU(d, m2 + c), hn::Add(run_m2, between)), d, m2 + c);
  }
  for (; c < width; ++c) {
    const double sum = sums[c], rest = sum * inverse, step = about[c] + rest - mean[c];
    mean[c] += step * share;
    m2[c] += squares[c] - sum * rest + step * step * weight;
  }
}

// mean[c] and m2[c] of rows of `width` values, `pitch` apart. `scratch` has room for three rows.
void moments_chunk(int64_t rows, int width, int64_t pitch, const float* x, float* scratch, double* mean, double* m2) {
  constexpr int64_t kRunFloats = 4096;  // half of the smallest first-level cache
  const int64_t run = std::clamp<int64_t>(kRunFloats / width, 8, 64);
  float *about = scratch, *sums = about + width, *squares = sums + width;
  std::fill_n(mean, width, 0.0);
  std::fill_n(m2, width, 0.0);
  for (int64_t row = 0; row < rows; row += run) {
    const int64_t count = std::min(run, rows - row);
    rough_means(count, width, pitch, x + row * pitch, about);
    squares_about(count, width, pitch, x + row * pitch, about, sums, squares);
    join(row, count, width, about, sums, squares, mean, m2);
  }
}

// y = activation((x - mean) * scale + shift + residual)
template <UnaryOp kActivation, bool kResidual, bool kStream>
void apply_loop(int64_t rows, int width, int64_t pitch, const float* mean, const float* scale, const float* shift,
                const float* residual, const float* x, float* y) {
  for (int64_t at = 0; at < rows * pitch; at += pitch) {
    for_vectors(width, [=](auto d, int64_t i) HWY_ATTR {
      auto v = hn::Sub(hn::LoadU(d, x + at + i), hn::LoadU(d, mean + i));
      v = hn::MulAdd(v, hn::LoadU(d, scale + i), hn::LoadU(d, shift + i));
      if constexpr (kResidual) v = hn::Add(v, hn::LoadU(d, residual + at + i));
      store<kStream>(activate<kActivation>(d, v), d, y + at + i);
    });
  }
  flush<kStream>();
}

// `stream`: see store().
void apply_chunk(Activation activation, bool stream, int64_t rows, int width, int64_t pitch, const float* mean,
                 const float* scale, const float* shift, const float* residual, const float* x, float* y) {
  with_activation(activation, [&]<UnaryOp kActivation>() HWY_ATTR {
    const auto run = [&]<bool kStream>() HWY_ATTR {
      if (residual) {
        apply_loop<kActivation, true, kStream>(rows, width, pitch, mean, scale, shift, residual, x, y);
      } else {
        apply_loop<kActivation, false, kStream>(rows, width, pitch, mean, scale, shift, residual, x, y);
      }
    };
    if constexpr (kActivation == UnaryOp::none || kActivation == UnaryOp::relu) {
      if (stream) return run.template operator()<true>();
    }
    run.template operator()<false>();
  });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// Means and sums of squares about them, of so many rows each.
struct Moments {
  double *mean, *m2;
};

// Those of `rows` rows join those of `before` rows.
void join(int64_t cols, int64_t before, Moments all, int64_t rows, Moments more) {
  const double share = static_cast<double>(rows) / static_cast<double>(before + rows);
  const double weight = static_cast<double>(before) * share;
  for (int64_t c = 0; c < cols; ++c) {
    const double step = more.mean[c] - all.mean[c];
    all.mean[c] += step * share;
    all.m2[c] += more.m2[c] + step * step * weight;
  }
}

// The moments of each chunk's rows, a set a chunk: moments of set s are at s * cols.
void chunk_moments(Context& context, const ColumnSplit& split, const float* x, Moments sets) {
  const auto chunk_loop = DNN_PER_ISA(moments_chunk)[context];
  const int64_t width = split.width(), threads = threads_for(context, split.chunks());
  Workspace workspace(context);
  float* all_scratch = workspace.take<float>(3 * width * threads);
  double* all_moments = workspace.take<double>(2 * width * threads);
  parallel_for(context, split.chunks(), [&](int64_t chunk, int thread) {
    const Moments own{all_moments + 2 * width * thread, all_moments + 2 * width * thread + width};
    int64_t before = 0;
    split.for_runs(chunk, [&](int64_t at, int64_t col, int64_t rows, int run_width, int64_t pitch) {
      chunk_loop(rows, run_width, pitch, x + at, all_scratch + 3 * width * thread, own.mean, own.m2);
      const int64_t first = split.set_of(chunk) * split.cols + col;
      const Moments set{sets.mean + first, sets.m2 + first};
      const int64_t cols = std::min(run_width, split.cols);
      for (int64_t i = 0; i < run_width; i += cols) {
        if (before == 0) {
          std::copy_n(own.mean, cols, set.mean);
          std::copy_n(own.m2, cols, set.m2);
        } else {
          join(cols, before, set, rows, {own.mean + i, own.m2 + i});
        }
        before += rows;
      }
    });
  });
}

// The mean of a column and the sum of squares about it in double, for one where a float has overflowed on the way.
// Both stay as they are where x itself is not finite.
void exact_moments(const RowsShape& shape, const float* x, int64_t col, double& mean, double& m2) {
  double sum = 0, squares = 0;
  for (int64_t at = col; at < shape.count(); at += shape.cols) {
    if (!std::isfinite(x[at])) return;
    sum += x[at];
  }
  const double centre = sum / static_cast<double>(shape.rows);
  for (int64_t at = col; at < shape.count(); at += shape.cols) squares += (x[at] - centre) * (x[at] - centre);
  mean = centre;
  m2 = squares;
}

}  // namespace

void batch_norm_forward(Context& context, const RowsShape& shape, const BatchNormParams& params, const float* x,
                        const float* weight, const Epilogue<float>& e, float* running_mean, float* running_var,
                        float* y, float* mean, float* inv_std) {
  const ColumnSplit split(shape);
  const int64_t cols = shape.cols;
  const bool measure = params.training && shape.rows > 0;
  Workspace workspace(context);
  Moments sets{};
  if (measure) {
    sets = {workspace.take<double>(split.row_chunks * cols), workspace.take<double>(split.row_chunks * cols)};
    chunk_moments(context, split, x, sets);
  }

  float* centre = workspace.take<float>(split.width());
  float* scale = workspace.take<float>(split.width());
  float* shift = workspace.take<float>(split.width());
  const int64_t col_chunks = chunk_count(cols * split.row_chunks, 2048);
  parallel_for(context, col_chunks, [&](int64_t chunk, int) {
    const auto [begin, end] = line_range(cols, col_chunks, chunk);
    for (int64_t set = 1; measure && set < split.row_chunks; ++set) {
      const Range rows = split.rows_of_set(set);
      const int64_t first = set * cols + begin;
      join(end - begin, rows.begin, {sets.mean + begin, sets.m2 + begin}, rows.end - rows.begin,
           {sets.mean + first, sets.m2 + first});
    }
    for (int64_t c = begin; c < end; ++c) {
      double m = 0, var = 0;
      if (measure) {
        if (!std::isfinite(sets.m2[c])) exact_moments(shape, x, c, sets.mean[c], sets.m2[c]);
        m = sets.mean[c];
        var = sets.m2[c] / static_cast<double>(shape.rows);
        const double unbiased = sets.m2[c] / static_cast<double>(std::max<int64_t>(shape.rows - 1, 1));
        const double keep = 1 - params.momentum;
        if (running_mean) running_mean[c] = static_cast<float>(keep * running_mean[c] + params.momentum * m);
        if (running_var) running_var[c] = static_cast<float>(keep * running_var[c] + params.momentum * unbiased);
      } else if (!params.training) {
        m = running_mean[c];
        var = running_var[c];
      }
      const double inverse = 1 / std::sqrt(var + params.eps), factor = weight ? weight[c] * inverse : inverse;
      mean[c] = static_cast<float>(m);
      centre[c] = measure && !differences_fit(shape.rows, inverse) ? 0 : mean[c];
      inv_std[c] = static_cast<float>(inverse);
      scale[c] = static_cast<float>(factor);
      // What rounding the mean took from it comes back here, or all of it where it isn't taken off before.
      shift[c] = static_cast<float>((e.bias ? e.bias[c] : 0) + (centre[c] - m) * factor);
    }
  });
  split.repeat(centre);
  split.repeat(scale);
  split.repeat(shift);

  const auto chunk_loop = DNN_PER_ISA(apply_chunk)[context];
  const bool stream = split.col_chunks == 1 && split.width() % kLineFloats == 0 && worth_streaming(y, shape.count());
  parallel_for(context, split.chunks(), [&](int64_t chunk, int) {
    split.for_runs(chunk, [&](int64_t at, int64_t col, int64_t rows, int width, int64_t pitch) {
      chunk_loop(e.activation, stream && width == split.width(), rows, width, pitch, centre + col, scale + col,
                 shift + col, e.residual ? e.residual + at : nullptr, x + at, y + at);
    });
  });
}

}  // namespace dnn::cpu
#endif
