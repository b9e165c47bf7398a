#include <kernels/verbose.h>

#include <catch2/catch.hpp>

namespace dnn::test {
namespace {

TEST_CASE("verbose: the line of a routed call", "[verbose]") {
  GemmShape gemm;
  gemm.m = 64, gemm.n = 500, gemm.k = 800;
  CHECK(describe(gemm) == "64x500x800");
  gemm.trans_b = true;
  CHECK(call_line("gemm", describe(gemm), "gemm_packed", 0.4123) == "gemm 64x500x800 bT gemm_packed 0.412 ms");

  Conv2dShape conv;
  conv.n = 8, conv.h = conv.w = 56, conv.c = 64, conv.k = 128, conv.r = conv.s = 3;
  CHECK(describe(conv) == "8x56x56x64 3x3-128");
  conv.stride_h = conv.stride_w = 2;
  conv.pad_top = conv.pad_bottom = 1;
  conv.dilation_w = 2;
  conv.groups = 4;
  CHECK(describe(conv) == "8x56x56x64 3x3-128 s2 p1x0 d1x2 g4");
  conv.pad_left = 1;
  CHECK(describe(conv) == "8x56x56x64 3x3-128 s2 p1,1,1,0 d1x2 g4");
}

}  // namespace
}  // namespace dnn::test
