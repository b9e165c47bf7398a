#include <kernels/cpu/gemm_methods.h>

#include "fused.h"

namespace dnn::test {
namespace {

const auto kGemm = &Kernels<float>::gemm;

std::string shape_text(const GemmShape& shape) {
  return "m " + std::to_string(shape.m) + ", n " + std::to_string(shape.n) + ", k " + std::to_string(shape.k) +
         (shape.trans_a ? ", A transposed" : "") + (shape.trans_b ? ", B transposed" : "") + ", alpha " +
         std::to_string(shape.alpha) + ", beta " + std::to_string(shape.beta);
}

constexpr Parts kNothing, kBoth{true, true};

// Every row against the reference; C holds NaN before where beta is 0.
void compare(const GemmShape& shape, const Parts& parts, const Activation& activation) {
  const int a_rows = shape.trans_a ? shape.k : shape.m, b_rows = shape.trans_b ? shape.n : shape.k;
  const auto a = Buffer<float>::random_rows(a_rows, shape.trans_a ? shape.m : shape.k, shape.a_pitch(), 1);
  const auto b = Buffer<float>::random_rows(b_rows, shape.trans_b ? shape.k : shape.n, shape.b_pitch(), 2);
  const auto bias = Buffer<float>::random(shape.n, 3), column_scale = Buffer<float>::random(shape.n, 6);
  const auto residual = Buffer<float>::random_rows(shape.m, shape.n, shape.c_pitch(), 4);
  Buffer<float> before(int64_t{shape.m} * shape.c_pitch());
  for (int64_t i = 0; i < before.size(); ++i) {
    if (i % shape.c_pitch() >= shape.n) continue;
    before[i] = shape.beta == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i % 13) / 13;
  }
  const auto epilogue = epilogue_of(parts, bias, residual, column_scale, activation);

  Context reference(reference_row());
  Buffer<double> c64 = convert<double>(before), sums = absolute(c64);
  const auto bias64 = convert<double>(bias), residual64 = convert<double>(residual);
  const auto column_scale64 = convert<double>(column_scale);
  reference_row().f64.gemm(reference, shape, convert<double>(a).get(), convert<double>(b).get(),
                           epilogue_of(parts, bias64, residual64, column_scale64, activation), c64.get());
  GemmShape positive = shape;
  positive.alpha = std::abs(shape.alpha);
  positive.beta = std::abs(shape.beta);
  const auto bias_size = absolute(bias64), residual_size = absolute(residual64);
  const auto column_scale_size = absolute(column_scale64);
  reference_row().f64.gemm(reference, positive, absolute(convert<double>(a)).get(), absolute(convert<double>(b)).get(),
                           epilogue_of(parts, bias_size, residual_size, column_scale_size, Activation::none),
                           sums.get());
  const Buffer<double> scale = magnitudes(activation, sums, c64);
  for (const Backend* row : rows_with(kGemm)) {
    INFO(row->name << ", " << shape_text(shape) << ", " << text(activation) << text(parts));
    Context context(*row);
    Buffer<float> c = before;
    row->f32.gemm(context, shape, a.get(), b.get(), epilogue, c.get());
    check_close(c, c64, scale, shape.k + 3);
    if (!row->f32.gemm_pack_b.run) continue;

    Buffer<float> packed(row->f32.gemm_packed_size(context, shape));
    row->f32.gemm_pack_b(context, shape, b.get(), packed.get());
    packed.check_guards();
    c = before;
    row->f32.gemm_packed_b(context, shape, a.get(), packed.get(), epilogue, c.get());
    check_close(c, c64, scale, shape.k + 3);
  }
}

void compare_transposed(GemmShape shape) {
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      shape.trans_a = trans_a;
      shape.trans_b = trans_b;
      compare(shape, kBoth, Activation::relu);
    }
  }
}

TEST_CASE("gemm: values by hand", "[gemm]") {
  for (const Backend* row : rows_with(kGemm)) {
    INFO(row->name);
    Context context(*row);
    GemmShape shape{2, 2, 3};
    const Buffer<float> a({1, 2, 3, 4, 5, 6}), a_transposed({1, 4, 2, 5, 3, 6});
    const Buffer<float> b({1, 0, 2, -1, 0, 3}), b_transposed({1, 2, 0, 0, -1, 3});
    Buffer<float> c(4);
    row->f32.gemm(context, shape, a.get(), b.get(), {}, c.get());
    check_values<float>(c, {5, 7, 14, 13});
    shape.trans_a = true;
    row->f32.gemm(context, shape, a_transposed.get(), b.get(), {}, c.get());
    check_values<float>(c, {5, 7, 14, 13});
    shape.trans_b = true;
    row->f32.gemm(context, shape, a_transposed.get(), b_transposed.get(), {}, c.get());
    check_values<float>(c, {5, 7, 14, 13});
    shape.trans_a = false;
    row->f32.gemm(context, shape, a.get(), b_transposed.get(), {}, c.get());
    check_values<float>(c, {5, 7, 14, 13});

    if (row->f32.gemm_pack_b.run) {
      Buffer<float> packed(row->f32.gemm_packed_size(context, shape));
      row->f32.gemm_pack_b(context, shape, b_transposed.get(), packed.get());
      row->f32.gemm_packed_b(context, shape, a.get(), packed.get(), {}, c.get());
      check_values<float>(c, {5, 7, 14, 13});
    }

    const Buffer<float> bias({1, -20}), residual({0.5f, 0.5f, 100, 0.25f});
    c = Buffer<float>({10, 20, 30, 40});
    shape = {2, 2, 3};
    shape.alpha = 2;
    shape.beta = -0.5;
    row->f32.gemm(context, shape, a.get(), b.get(), {bias.get(), residual.get(), Activation::relu}, c.get());
    check_values<float>(c, {6.5f, 0, 114, 0});
  }
}

TEST_CASE("gemm: odd sizes, transposed or not", "[gemm]") {
  for (const int size : odd_sizes()) {
    compare_transposed({size, size, size});
    compare_transposed({size, 40, 21});
    compare_transposed({5, size, 37});
    compare_transposed({13, 19, size});
  }
}

TEST_CASE("gemm: sizes around the blocks of packed panels", "[gemm]") {
  compare_transposed({64, 64, 64});
  compare_transposed({97, 193, 257});
  compare_transposed({127, 129, 511});
  compare_transposed({200, 50, 1025});
  compare_transposed({1, 1000, 130});
  compare_transposed({300, 1, 130});
  compare_transposed({2, 3, 5000});
  compare_transposed({600, 40, 9});
  compare_transposed({7, 2100, 11});
}

TEST_CASE("gemm: the dense layers of nets", "[gemm]") {
  for (GemmShape shape : {GemmShape{64, 500, 800}, GemmShape{64, 10, 500}, GemmShape{1, 120, 400},
                          GemmShape{8, 1000, 1024}, GemmShape{2, 512, 2304}}) {
    compare_transposed(shape);
  }
}

TEST_CASE("gemm: leading dimensions, alpha and beta", "[gemm]") {
  for (const double beta : {0.0, 1.0, -0.25}) {
    for (const double alpha : {1.0, 0.0, -1.5}) {
      for (const bool trans_a : {false, true}) {
        for (const bool trans_b : {false, true}) {
          GemmShape shape{21, 35, 18, trans_a, trans_b, 43, 44, 37};
          shape.alpha = alpha;
          shape.beta = beta;
          compare(shape, kNothing, Activation::none);
          compare(shape, kBoth, Activation::none);
        }
      }
    }
  }
}

TEST_CASE("gemm: every activation in every method, with and without scale, bias and residual", "[gemm]") {
  struct Case {
    GemmShape shape;
    const char* method;
  };
  const std::vector<Case> cases{{{67, 75, 31}, "gemm_wide"},
                                {{231, 101, 43}, "gemm_packed"},
                                {{5, 101, 43}, "gemm_streams"},
                                {{11, 101, 43, false, true}, "gemm_dot"},
                                {{31, 27, 9001, true}, "gemm_split_k"}};
  for (const Case& c : cases) {
    if (cpu::gemm_choice() == cpu::GemmChoice::packed) CHECK(std::string(cpu::gemm_route(c.shape)) == c.method);
    for (const Activation& activation : every_activation()) compare(c.shape, {true, true, true}, activation);
    for (const Parts& parts : every_parts()) {
      compare(c.shape, parts, Activation::none);
      compare(c.shape, parts, Activation::relu);
      if (c.shape.k < 1000) compare(c.shape, parts, Activation::gelu);
    }
  }
}

TEST_CASE("gemm: empty operands", "[gemm]") {
  compare({0, 5, 4}, kBoth, Activation::relu);
  compare({5, 0, 4}, kBoth, Activation::relu);
  compare({5, 20, 0}, kNothing, Activation::none);
  compare({5, 20, 0}, kBoth, Activation::relu);
  GemmShape keeps{5, 20, 0};
  keeps.beta = 0.5;
  compare(keeps, kBoth, Activation::none);
}

}  // namespace
}  // namespace dnn::test
