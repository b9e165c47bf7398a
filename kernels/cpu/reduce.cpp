// y = scale * the product, the largest or the smallest of x over some dimensions: products in double, so that they
// neither overflow nor vanish on their way. The sum is in sum.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/reduction.h>
#include <kernels/cpu/simd/reduction-inl.h>
#include <kernels/cpu/sum.h>

#ifndef DNN_REDUCE_JOINED
#define DNN_REDUCE_JOINED
namespace dnn::cpu {
namespace {

double of_nothing(ReduceOp op) {
  if (op == ReduceOp::prod) return 1;
  return op == ReduceOp::max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

void join(ReduceOp op, double& total, double more) {
  if (op == ReduceOp::prod) {
    total *= more;
  } else if (std::isnan(more) || (op == ReduceOp::max ? more > total : more < total)) {
    total = more;
  }
}

}  // namespace
}  // namespace dnn::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

constexpr int kTogether = 4;  // vectors, or rows, whose latencies overlap

// The larger (or smaller) of both, NaN where one is.
template <ReduceOp kOp, class V>
HWY_INLINE V extreme(V before, V v) {
  const auto better = kOp == ReduceOp::max ? hn::Gt(v, before) : hn::Lt(v, before);
  return hn::IfThenElse(hn::Or(better, hn::IsNaN(v)), v, before);
}

template <ReduceOp kOp>
void join_run(int64_t count, const float* x, double& total) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> best[kTogether];
  for (auto& v : best) v = hn::Set(d, static_cast<float>(of_nothing(kOp)));
  int64_t i = 0;
  for (; i + kTogether * lanes <= count; i += kTogether * lanes) {
#pragma GCC unroll 4
    for (int j = 0; j < kTogether; ++j) best[j] = extreme<kOp>(best[j], hn::LoadU(d, x + i + j * lanes));
  }
  for (; i + lanes <= count; i += lanes) best[0] = extreme<kOp>(best[0], hn::LoadU(d, x + i));
  for (int j = 1; j < kTogether; ++j) best[0] = extreme<kOp>(best[0], best[j]);
  HWY_ALIGN float values[hn::MaxLanes(d)];
  hn::Store(best[0], d, values);
  for (int64_t j = 0; j < lanes; ++j) join(kOp, total, values[j]);
  for (; i < count; ++i) join(kOp, total, x[i]);
}

template <>
void join_run<ReduceOp::prod>(int64_t count, const float* x, double& total) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> products[kTogether];
  for (auto& v : products) v = hn::Set(d, 1.0);
  int64_t i = 0;
  for (; i + kTogether * lanes <= count; i += kTogether * lanes) {
#pragma GCC unroll 4
    for (int j = 0; j < kTogether; ++j) products[j] = hn::Mul(products[j], load_as_double(d, x + i + j * lanes));
  }
  for (int j = 1; j < kTogether; ++j) products[0] = hn::Mul(products[0], products[j]);
  HWY_ALIGN double values[hn::MaxLanes(d)];
  hn::Store(products[0], d, values);
  for (int64_t j = 0; j < lanes; ++j) total *= values[j];
  for (; i < count; ++i) total *= x[i];
}

template <ReduceOp kOp>
void runs_of(const ReducePlan& plan, Range kept, Range values, const float* x, double* totals) {
  std::fill_n(totals, kept.end - kept.begin, of_nothing(kOp));
  for_each_run_of_values(plan, kept, values, x, [=](int64_t i, const float*, int64_t count, const float* run) HWY_ATTR {
    join_run<kOp>(count, run, totals[i]);
  });
}

// best[c] joined with the rows' column c.
template <ReduceOp kOp>
void join_rows(int64_t rows, int64_t width, int64_t pitch, const float* x, float* best) {
  for (; rows >= kTogether; rows -= kTogether, x += kTogether * pitch) {
    for_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
      auto v = hn::LoadU(d, best + c);
#pragma GCC unroll 4
      for (int i = 0; i < kTogether; ++i) v = extreme<kOp>(v, hn::LoadU(d, x + i * pitch + c));
      hn::StoreU(v, d, best + c);
    });
  }
  for (; rows > 0; --rows, x += pitch) {
    for_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
      hn::StoreU(extreme<kOp>(hn::LoadU(d, best + c), hn::LoadU(d, x + c)), d, best + c);
    });
  }
}

void multiply_rows(int64_t rows, int64_t width, int64_t pitch, const float* x, double* products) {
  for (; rows >= kTogether; rows -= kTogether, x += kTogether * pitch) {
    for_double_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
      auto v = hn::LoadU(d, products + c);
#pragma GCC unroll 4
      for (int i = 0; i < kTogether; ++i) v = hn::Mul(v, load_as_double(d, x + i * pitch + c));
      hn::StoreU(v, d, products + c);
    });
  }
  for (; rows > 0; --rows, x += pitch) {
    for_double_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
      hn::StoreU(hn::Mul(hn::LoadU(d, products + c), load_as_double(d, x + c)), d, products + c);
    });
  }
}

template <ReduceOp kOp>
void columns_of(const ReducePlan& plan, int64_t kept, int64_t first, int64_t width, int group, Range rows,
                const float* x, float* best, double* totals) {
  std::fill_n(best, group * width, static_cast<float>(of_nothing(kOp)));
  std::fill_n(totals, group * width, of_nothing(kOp));
  for_each_block_of_rows(plan, kept, first, width, group, rows, x,
                         [=](int64_t count, int64_t columns, int64_t pitch, const float* values) HWY_ATTR {
                           if constexpr (kOp == ReduceOp::prod) {
                             multiply_rows(count, columns, pitch, values, totals);
                           } else {
                             join_rows<kOp>(count, columns, pitch, values, best);
                           }
                         });
  if (kOp != ReduceOp::prod) std::copy_n(best, group * width, totals);
  join_group<1>(width, group, totals, [](double& total, double more) { join(kOp, total, more); });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

template <ReduceOp kOp>
struct ProductOrExtreme : ReductionLoops {
  static constexpr int kTotals = 1;
  double scale;
  float* y;

  static void join(double& total, double more) { cpu::join(kOp, total, more); }
  void finish(int64_t first, int64_t count, const double* totals) const {
    for (int64_t i = 0; i < count; ++i) y[first + i] = static_cast<float>(scale * totals[i]);
  }
};

template <ReduceOp kOp>
void product_or_extreme(Context& context, const ReduceShape& shape, double scale, const float* x, float* y) {
  const ReducePlan plan(shape);
  run_reduction(context,
                ProductOrExtreme<kOp>{
                    {DNN_PER_ISA(runs_of<kOp>)[context], DNN_PER_ISA(columns_of<kOp>)[context], plan, x}, scale, y});
}

}  // namespace

void reduce(Context& context, ReduceOp op, const ReduceShape& shape, double scale, const float* x, float* y) {
  if (shape.in_count() == 0) {
    const double value = op == ReduceOp::sum ? 0 : of_nothing(op);
    std::fill_n(y, shape.out_count(), static_cast<float>(scale * value));  // NaN for the mean of no values
    return;
  }
  switch (op) {
    case ReduceOp::sum:
      return sum(context, shape, scale, x, y);
    case ReduceOp::prod:
      return product_or_extreme<ReduceOp::prod>(context, shape, scale, x, y);
    case ReduceOp::max:
      return product_or_extreme<ReduceOp::max>(context, shape, scale, x, y);
    case ReduceOp::min:
      return product_or_extreme<ReduceOp::min>(context, shape, scale, x, y);
  }
}

}  // namespace dnn::cpu
#endif
