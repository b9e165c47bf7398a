// Batches of products: strides between the operands, shared ones, and the route of each.
#include <kernels/cpu/gemm_methods.h>

#include "cpu_rows.h"

namespace dnn::test {
namespace {

struct Operands {
  Buffer<float> a, b, bias, residual, c;

  // As many values as the last product of the batch ends with.
  static int64_t extent(const GemmShape& s, int64_t stride, int64_t one) {
    return s.batch > 0 ? (s.batch - 1) * stride + one : 0;
  }
  static int64_t c_size(const GemmShape& s) { return extent(s, s.c_step(), int64_t{s.m} * s.c_pitch()); }

  explicit Operands(const GemmShape& s)
      : a(Buffer<float>::random(extent(s, s.a_stride, int64_t{s.trans_a ? s.k : s.m} * s.a_pitch()), 1)),
        b(Buffer<float>::random(extent(s, s.b_stride, int64_t{s.trans_b ? s.n : s.k} * s.b_pitch()), 2)),
        bias(Buffer<float>::random(s.n, 3)),
        residual(Buffer<float>::random(c_size(s), 4)),
        c(Buffer<float>::random(c_size(s), 5)) {}
};

template <class T>
Epilogue<T> epilogue_of(const Buffer<T>& bias, const Buffer<T>& residual, const Activation& activation) {
  return {.bias = bias.get(), .residual = residual.get(), .activation = activation};
}

Buffer<float> run(const Backend& row, const GemmShape& shape, const Operands& x, int threads) {
  Context context(row);
  context.threads = threads;
  Buffer<float> c = x.c;
  row.f32.gemm(context, shape, x.a.get(), x.b.get(), epilogue_of(x.bias, x.residual, Activation::relu), c.get());
  c.check_guards();
  return c;
}

// The products of the batch one by one, on the reference, in T.
Buffer<double> one_by_one(const GemmShape& shape, Buffer<double> c, const Buffer<double>& a, const Buffer<double>& b,
                          const Epilogue<double>& epilogue) {
  Context context(reference_row());
  GemmShape one = shape;
  one.batch = 1;
  for (int64_t i = 0; i < shape.batch; ++i) {
    Epilogue<double> part = epilogue;
    part.residual += i * shape.c_step();
    reference_row().f64.gemm(context, one, a.get() + i * shape.a_stride, b.get() + i * shape.b_stride, part,
                             c.get() + i * shape.c_step());
  }
  return c;
}

// Every row, with 1 and 3 threads the same bits; what lies between the products stays as it is.
void compare(const GemmShape& shape) {
  const Operands x(shape);
  const auto a = convert<double>(x.a), b = convert<double>(x.b), bias = convert<double>(x.bias);
  const auto residual = convert<double>(x.residual), c = convert<double>(x.c);
  const Buffer<double> expected = one_by_one(shape, c, a, b, epilogue_of(bias, residual, Activation::relu));
  GemmShape positive = shape;
  positive.alpha = std::abs(shape.alpha), positive.beta = std::abs(shape.beta);
  const Buffer<double> bias_size = absolute(bias), residual_size = absolute(residual);
  const Buffer<double> scale = one_by_one(positive, absolute(c), absolute(a), absolute(b),
                                          epilogue_of(bias_size, residual_size, Activation::none));
  for (const Backend* row : rows_with(&Kernels<float>::gemm)) {
    INFO(row->name << ", " << shape.batch << " of m " << shape.m << ", n " << shape.n << ", k " << shape.k << ", A "
                   << shape.trans_a << ", B " << shape.trans_b << ", strides " << shape.a_stride << ", "
                   << shape.b_stride << ", " << shape.c_stride);
    const Buffer<float> y = run(*row, shape, x, 1);
    check_close(y, expected, scale, shape.k + 3);
    REQUIRE((run(*row, shape, x, 3).values() == y.values()));
  }
}

// Dense operands; with gaps between rows and products where `gaps`.
GemmShape batch_of(int64_t batch, int m, int n, int k, bool trans_a = false, bool trans_b = false, bool gaps = false) {
  GemmShape s{m, n, k, trans_a, trans_b};
  if (gaps) s.lda = s.a_pitch() + 2, s.ldb = s.b_pitch() + 3, s.ldc = n + 1;
  const int64_t gap = gaps ? 7 : 0;
  s.batch = batch;
  s.a_stride = int64_t{trans_a ? k : m} * s.a_pitch() + gap;
  s.b_stride = int64_t{trans_b ? n : k} * s.b_pitch() + gap;
  s.c_stride = gaps ? int64_t{m} * s.c_pitch() + gap : 0;
  return s;
}

TEST_CASE("gemm: a batch by hand", "[gemm]") {
  for (const Backend* row : rows_with(&Kernels<float>::gemm)) {
    INFO(row->name);
    Context context(*row);
    GemmShape shape{1, 2, 2};
    shape.batch = 2;
    shape.a_stride = 2, shape.b_stride = 4;
    const Buffer<float> a({1, 2, 3, 4}), b({1, 0, 0, 1, 1, 1, 2, -1}), bias({10, 20}), residual({0, 1, 2, 3});
    Buffer<float> c(4);
    row->f32.gemm(context, shape, a.get(), b.get(), {}, c.get());
    check_values<float>(c, {1, 2, 11, -1});
    row->f32.gemm(context, shape, a.get(), b.get(), epilogue_of(bias, residual, Activation::none), c.get());
    check_values<float>(c, {11, 23, 23, 22});
    shape.b_stride = 0;
    row->f32.gemm(context, shape, a.get(), b.get(), {}, c.get());
    check_values<float>(c, {1, 2, 3, 4});
    shape.a_stride = 0, shape.b_stride = 4;
    row->f32.gemm(context, shape, a.get(), b.get(), {}, c.get());
    check_values<float>(c, {1, 2, 5, -1});
    Buffer<float> gap({7, 7, 7, 7, 7});
    shape.c_stride = 3;
    row->f32.gemm(context, shape, a.get(), b.get(), {}, gap.get());
    check_values<float>(gap, {1, 2, 7, 5, -1});
    shape.batch = 0;
    row->f32.gemm(context, shape, a.get(), b.get(), {}, gap.get());
    check_values<float>(gap, {1, 2, 7, 5, -1});
  }
}

TEST_CASE("gemm: batches against single products of the reference", "[gemm]") {
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      for (const bool gaps : {false, true}) {
        for (const int size : odd_sizes()) {
          if (size % 2 == 0 && gaps) continue;
          compare(batch_of(5, size, 19, 13, trans_a, trans_b, gaps));
          compare(batch_of(3, 21, size, 35, trans_a, trans_b, gaps));
          compare(batch_of(130, 3, 5, size, trans_a, trans_b, gaps));
        }
        GemmShape shape = batch_of(4, 17, 40, 21, trans_a, trans_b, gaps);
        for (const auto& [share_a, share_b] : {std::pair(true, false), {false, true}, {true, true}}) {
          GemmShape shared = shape;
          if (share_a) shared.a_stride = 0;
          if (share_b) shared.b_stride = 0;
          shared.alpha = -0.5, shared.beta = 2;
          compare(shared);
        }
      }
    }
  }
}

TEST_CASE("gemm: empty batches and empty sums", "[gemm]") {
  compare(batch_of(0, 3, 4, 5));
  compare(batch_of(3, 0, 4, 5));
  compare(batch_of(3, 4, 0, 5));
  GemmShape shape = batch_of(3, 4, 5, 0);
  compare(shape);
  shape.beta = 0.5;
  compare(shape);
}

TEST_CASE("gemm: which method takes a batch", "[gemm]") {
  if (cpu::gemm_choice() != cpu::GemmChoice::packed) return;
  struct Case {
    GemmShape shape;
    const char* method;
  };
  GemmShape rows = batch_of(3, 101, 103, 105);
  rows.b_stride = 0;  // one product of 303 rows
  const std::vector<Case> cases{{batch_of(9, 97, 99, 33), "gemm_wide"},
                                {batch_of(3, 230, 217, 65), "gemm_wide"},
                                {batch_of(2, 517, 301, 299, true, true), "gemm_packed"},
                                {batch_of(9, 5, 301, 61), "gemm_streams"},
                                {batch_of(9, 11, 301, 61, false, true), "gemm_dot"},
                                {batch_of(9, 11, 301, 61, true, true), "gemm_wide"},
                                {batch_of(2, 31, 27, 9001, true), "gemm_split_k"},
                                {rows, "gemm_packed"}};
  for (const Case& c : cases) {
    INFO("m " << c.shape.m << ", n " << c.shape.n << ", k " << c.shape.k);
    CHECK(std::string(cpu::gemm_route(c.shape)) == c.method);
    compare(c.shape);
  }
}

TEST_CASE("gemm: a packed B that a batch shares", "[gemm]") {
  for (const int rows : {3, 101}) {
    for (const bool gaps : {false, true}) {
      GemmShape shape = batch_of(4, rows, 45, 301, false, true, gaps);
      shape.b_stride = 0;
      const Operands x(shape);
      for (const Backend* row : rows_with(&Kernels<float>::gemm_packed_b)) {
        INFO(row->name << ", " << rows << " rows" << (gaps ? ", gaps" : ""));
        Context context(*row);
        Buffer<float> packed(row->f32.gemm_packed_size(context, shape)), c = x.c;
        row->f32.gemm_pack_b(context, shape, x.b.get(), packed.get());
        row->f32.gemm_packed_b(context, shape, x.a.get(), packed.get(),
                               epilogue_of(x.bias, x.residual, Activation::relu), c.get());
        check_values(c, run(*row, shape, x, 1).values(), 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
