#pragma once
#include <cstdint>

#include <kernels/cpu/per_isa.h>

namespace dnn::bench {

struct PeakLoops {
  double (*fma)(int64_t rounds);                          // returns the floating-point operations it did
  void (*copy)(int64_t count, const float* x, float* y);  // y = x by ordinary loads and stores
};

extern const cpu::PerIsa<PeakLoops> peak_loops;

}  // namespace dnn::bench
