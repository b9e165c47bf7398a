// OpenBLAS as a method of gemm. It is set to one thread; the chunks of C are ours, so that its threads and ours don't
// meet and the bits don't depend on how many there are.
#include <kernels/cpu/gemm_methods.h>

#ifdef DNN_HAVE_OPENBLAS
#include <cblas.h>

#include <algorithm>

#include <kernels/cpu/simd/gemm_tile.h>
#include <kernels/parallel.h>

namespace dnn::cpu {
namespace {

constexpr int64_t kChunkFlops = int64_t{1} << 22;
constexpr int64_t kUnit = 16;  // rows or columns: chunks begin at multiples of it

void set_one_thread() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  (void)done;
}

}  // namespace

bool openblas_built() { return true; }

std::string openblas_core() { return openblas_get_corename(); }

void gemm_openblas(Context& context, const GemmShape& shape, const float* a, const float* b,
                   const Epilogue<float>& epilogue, float* c) {
  set_one_thread();
  const GemmLoops& loops = gemm_loops[context];
  const bool by_rows = shape.m > shape.n;
  const int64_t side = by_rows ? shape.m : shape.n;
  const int64_t units = (side + kUnit - 1) / kUnit;
  const int64_t unit_flops = static_cast<int64_t>(shape.flops()) / units;
  const int64_t chunks = chunk_count(units, kChunkFlops / std::max<int64_t>(unit_flops, 1));
  const int64_t a_pitch = shape.a_pitch(), b_pitch = shape.b_pitch(), c_pitch = shape.c_pitch();
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(units, chunks, chunk);
    const int64_t begin = range.begin * kUnit, length = std::min(range.end * kUnit, side) - begin;
    const int64_t row = by_rows ? begin : 0, col = by_rows ? 0 : begin;
    const int64_t m = by_rows ? length : shape.m, n = by_rows ? shape.n : length;
    const float* a_part = a + row * (shape.trans_a ? 1 : a_pitch);
    const float* b_part = b + col * (shape.trans_b ? b_pitch : 1);
    float* c_part = c + row * c_pitch + col;
    cblas_sgemm(CblasRowMajor, shape.trans_a ? CblasTrans : CblasNoTrans, shape.trans_b ? CblasTrans : CblasNoTrans,
                static_cast<blasint>(m), static_cast<blasint>(n), shape.k, static_cast<float>(shape.alpha), a_part,
                static_cast<blasint>(a_pitch), b_part, static_cast<blasint>(b_pitch), static_cast<float>(shape.beta),
                c_part, static_cast<blasint>(c_pitch));
    loops.finish(epilogue.part(col, row * c_pitch + col), m, n, c_part, c_pitch);
  });
}

}  // namespace dnn::cpu

#else

namespace dnn::cpu {

bool openblas_built() { return false; }

std::string openblas_core() { return ""; }

void gemm_openblas(Context&, const GemmShape&, const float*, const float*, const Epilogue<float>&, float*) {
  throw Error("[gemm] this build has no OpenBLAS");
}

}  // namespace dnn::cpu
#endif
