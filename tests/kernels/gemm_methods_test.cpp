#include <kernels/cpu/gemm_methods.h>

#include <string>

#include "rows.h"

// The methods of the CPU rows' gemm: which shape takes which, and bits that don't depend on the number of threads.
// What they compute is tested against the reference in gemm_test.cpp and here, on shapes large enough for every block.
namespace dnn::test {
namespace {

struct Case {
  GemmShape shape;
  const char* method;
};

GemmShape shape_of(int m, int n, int k, bool trans_a, bool trans_b) {
  GemmShape shape{m, n, k, trans_a, trans_b};
  shape.lda = shape.a_pitch() + 3;
  shape.ldb = shape.b_pitch() + 1;
  shape.ldc = n + 5;
  shape.alpha = -0.5;
  shape.beta = 2;
  return shape;
}

// With a few chunks each, and edges behind the last whole tile, panel and block.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool trans_a : {false, true}) {
    all.push_back({shape_of(1, 1003, 601, trans_a, true), "gemm_dot"});
    all.push_back({shape_of(13, 517, 530, trans_a, true), "gemm_dot"});
    all.push_back({shape_of(61, 10, 500, trans_a, true), "gemm_dot"});
    all.push_back({shape_of(1, 3001, 333, trans_a, false), "gemm_streams"});
    all.push_back({shape_of(7, 1005, 301, trans_a, false), "gemm_streams"});
    for (const bool trans_b : {false, true}) {
      all.push_back({shape_of(67, 515, 533, trans_a, trans_b), "gemm_wide"});
      all.push_back({shape_of(63, 27, 9001, trans_a, trans_b), "gemm_split_k"});
      all.push_back({shape_of(305, 211, 530, trans_a, trans_b), "gemm_packed"});
    }
  }
  all.push_back({shape_of(193, 4201, 261, false, false), "gemm_packed"});  // more columns than one block of B
  return all;
}

struct Operands {
  explicit Operands(const GemmShape& s)
      : a(Buffer<float>::random_rows(s.trans_a ? s.k : s.m, s.trans_a ? s.m : s.k, s.a_pitch(), 1)),
        b(Buffer<float>::random_rows(s.trans_b ? s.n : s.k, s.trans_b ? s.k : s.n, s.b_pitch(), 2)),
        bias(Buffer<float>::random(s.n, 3)),
        residual(Buffer<float>::random_rows(s.m, s.n, s.c_pitch(), 4)),
        c(Buffer<float>::random(int64_t{s.m} * s.c_pitch(), 5)) {}
  Buffer<float> a, b, bias, residual, c;
};

Buffer<float> product(const Backend& row, const GemmShape& shape, const Operands& x, int threads) {
  Context context(row);
  context.threads = threads;
  Buffer<float> c = x.c;
  row.f32.gemm(context, shape, x.a.get(), x.b.get(), {x.bias.get(), x.residual.get(), Activation::tanh}, c.get());
  c.check_guards();
  return c;
}

bool is_cpu(const Backend* row) { return row->name.rfind("cpu_", 0) == 0; }

TEST_CASE("gemm methods: every method against the reference, the same bits with 1, 2 and 3 threads", "[gemm]") {
  const bool packed = cpu::gemm_choice() == cpu::GemmChoice::packed;
  for (const Case& test : cases()) {
    const GemmShape& shape = test.shape;
    CHECK(std::string(cpu::gemm_route(shape)) == (packed ? test.method : "gemm_openblas"));
    const Operands x(shape);
    Context reference(reference_row());
    Buffer<double> c64 = convert<double>(x.c), scale = absolute(c64);
    const auto a64 = convert<double>(x.a), b64 = convert<double>(x.b), bias64 = convert<double>(x.bias);
    const auto residual64 = convert<double>(x.residual);
    reference_row().f64.gemm(reference, shape, a64.get(), b64.get(), {bias64.get(), residual64.get(), Activation::tanh},
                             c64.get());
    GemmShape positive = shape;
    positive.alpha = 0.5;
    reference_row().f64.gemm(reference, positive, absolute(a64).get(), absolute(b64).get(),
                             {absolute(bias64).get(), absolute(residual64).get(), Activation::none}, scale.get());
    for (const Backend* row : rows()) {
      if (!is_cpu(row)) continue;
      INFO(row->name << ", " << test.method << ", m " << shape.m << ", n " << shape.n << ", k " << shape.k << ", A "
                     << shape.trans_a << ", B " << shape.trans_b);
      const Buffer<float> one = product(*row, shape, x, 1);
      check_close(one, c64, scale, shape.k + 3);
      CHECK(product(*row, shape, x, 2).values() == one.values());
      CHECK(product(*row, shape, x, 3).values() == one.values());
    }
  }
}

TEST_CASE("gemm methods: what DNN_GEMM may say", "[gemm]") {
  using cpu::GemmChoice;
  CHECK(cpu::parse_gemm_choice(nullptr) == GemmChoice::packed);
  CHECK(cpu::parse_gemm_choice("") == GemmChoice::packed);
  CHECK(cpu::parse_gemm_choice("packed") == GemmChoice::packed);
  CHECK_THROWS_WITH(cpu::parse_gemm_choice("mkl"), "[gemm] DNN_GEMM is packed or openblas; got 'mkl'");
  if (cpu::openblas_built()) {
    CHECK(cpu::parse_gemm_choice("openblas") == GemmChoice::openblas);
    CHECK(!cpu::openblas_core().empty());
  } else {
    CHECK_THROWS_AS(cpu::parse_gemm_choice("openblas"), Error);
    CHECK(cpu::openblas_core().empty());
  }
}

}  // namespace
}  // namespace dnn::test
