#include <kernels/shapes.h>

#include <functional>
#include <limits>

#include "rows.h"

namespace dnn::test {
namespace {

// The message of the Error that f throws.
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Pool2dShape pool2d(int size, int window, int stride, int pad, bool ceil_mode) {
  Pool2dShape shape;
  shape.h = shape.w = size;
  shape.c = 1;
  shape.r = shape.s = window;
  shape.stride_h = shape.stride_w = stride;
  shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = pad;
  shape.ceil_mode = ceil_mode;
  shape.check();
  return shape;
}

Conv2dShape conv2d(int h, int w, int c, int k, int window) {
  Conv2dShape shape;
  shape.h = h;
  shape.w = w;
  shape.c = c;
  shape.k = k;
  shape.r = shape.s = window;
  return shape;
}

TEST_CASE("pool2d: output sizes, rounded up and down", "[shapes]") {
  struct Case {
    int size, window, stride, pad, up, down;
  };
  for (const Case& c : {Case{112, 3, 2, 0, 56, 55}, Case{64, 3, 2, 1, 33, 32}, Case{22, 3, 2, 0, 11, 10},
                        Case{6, 1, 2, 0, 3, 3},  // a fourth window would begin beyond the picture
                        Case{5, 2, 3, 1, 2, 2}, Case{4, 3, 2, 0, 2, 1}, Case{7, 7, 1, 0, 1, 1}, Case{13, 3, 2, 0, 6, 6},
                        Case{3, 2, 7, 1, 1, 1}}) {
    INFO("size " << c.size << ", window " << c.window << ", stride " << c.stride << ", padding " << c.pad);
    CHECK(pool2d(c.size, c.window, c.stride, c.pad, true).oh() == c.up);
    CHECK(pool2d(c.size, c.window, c.stride, c.pad, true).ow() == c.up);
    CHECK(pool2d(c.size, c.window, c.stride, c.pad, false).oh() == c.down);
    CHECK(pool2d(c.size, c.window, c.stride, c.pad, false).ow() == c.down);
  }
}

TEST_CASE("pool2d: with ceil every window sees the picture", "[shapes]") {
  for (int size = 1; size < 12; ++size) {
    for (int stride = 1; stride < 6; ++stride) {
      for (int window = 1; window < size + stride; ++window) {
        for (int pad = 0; pad < window; ++pad) {
          const int out = pool2d(size, window, stride, pad, true).oh();
          INFO("size " << size << ", window " << window << ", stride " << stride << ", padding " << pad);
          REQUIRE(out > 0);
          REQUIRE((out - 1) * stride - pad < size);
          if (window > size + 2 * pad) {
            REQUIRE(out == 1);
            continue;
          }
          REQUIRE(
              (out == pool2d(size, window, stride, pad, false).oh() || (out - 2) * stride + window < size + 2 * pad));
        }
      }
    }
  }
}

TEST_CASE("conv2d: output sizes, work and traffic", "[shapes]") {
  Conv2dShape shape = conv2d(227, 227, 3, 96, 11);
  shape.stride_h = shape.stride_w = 4;
  CHECK(shape.oh() == 55);
  CHECK(shape.ow() == 55);

  shape = conv2d(27, 27, 96, 256, 5);
  shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = 2;
  shape.groups = 2;
  shape.n = 3;
  shape.check();
  CHECK(shape.oh() == 27);
  CHECK(shape.w_count() == 256 * 25 * 48);
  CHECK(shape.flops() == 3 * int64_t{447897600});
  CHECK(shape.bytes(4) == 4 * (int64_t{3} * 729 * 96 + 256 * 25 * 48 + int64_t{3} * 729 * 256));

  shape = conv2d(10, 12, 4, 8, 3);
  shape.s = 2;
  shape.stride_h = 2;
  shape.stride_w = 3;
  shape.dilation_h = 2;
  shape.dilation_w = 4;
  shape.pad_bottom = 1;
  shape.pad_left = 2;
  shape.pad_right = 3;
  shape.check();
  CHECK(shape.oh() == 4);
  CHECK(shape.ow() == 5);
  CHECK(shape.x_pitch() == 4);
  shape.x_stride = 6;
  shape.y_stride = 9;
  shape.check();
  CHECK(shape.x_pitch() == 6);
  CHECK(shape.y_pitch() == 9);
}

TEST_CASE("conv2d: each bad field is refused by name", "[shapes]") {
  const auto refusal = [](auto&& change) {
    Conv2dShape shape = conv2d(9, 9, 8, 16, 3);
    shape.check();
    change(shape);
    return message_of([&] { shape.check(); });
  };
  using S = Conv2dShape;
  CHECK(refusal([](S& s) { s.n = -1; }) == "[conv2d] needs an input of at least (0, 1, 1, 1); got (-1, 9, 9, 8)");
  CHECK(refusal([](S& s) { s.h = 0; }) == "[conv2d] needs an input of at least (0, 1, 1, 1); got (1, 0, 9, 8)");
  CHECK(refusal([](S& s) { s.w = -2; }) == "[conv2d] needs an input of at least (0, 1, 1, 1); got (1, 9, -2, 8)");
  CHECK(refusal([](S& s) { s.c = 0; }) == "[conv2d] needs an input of at least (0, 1, 1, 1); got (1, 9, 9, 0)");
  CHECK(refusal([](S& s) { s.k = 0; }) == "[conv2d] needs at least one filter of 1x1; got 0 of 3x3");
  CHECK(refusal([](S& s) { s.r = 0; }) == "[conv2d] needs at least one filter of 1x1; got 16 of 0x3");
  CHECK(refusal([](S& s) { s.s = -1; }) == "[conv2d] needs at least one filter of 1x1; got 16 of 3x-1");
  CHECK(refusal([](S& s) { s.stride_h = 0; }) == "[conv2d] stride must be at least 1; got 0x1");
  CHECK(refusal([](S& s) { s.stride_w = -1; }) == "[conv2d] stride must be at least 1; got 1x-1");
  CHECK(refusal([](S& s) { s.dilation_h = 0; }) == "[conv2d] dilation must be at least 1; got 0x1");
  CHECK(refusal([](S& s) { s.dilation_w = 0; }) == "[conv2d] dilation must be at least 1; got 1x0");
  CHECK(refusal([](S& s) { s.pad_top = -1; }) ==
        "[conv2d] padding must not be negative; got top -1, left 0, bottom 0, right 0");
  CHECK(refusal([](S& s) { s.pad_left = -1; }) ==
        "[conv2d] padding must not be negative; got top 0, left -1, bottom 0, right 0");
  CHECK(refusal([](S& s) { s.pad_bottom = -1; }) ==
        "[conv2d] padding must not be negative; got top 0, left 0, bottom -1, right 0");
  CHECK(refusal([](S& s) { s.pad_right = -1; }) ==
        "[conv2d] padding must not be negative; got top 0, left 0, bottom 0, right -1");
  CHECK(refusal([](S& s) { s.groups = 0; }) ==
        "[conv2d] groups must divide input and output channels; got 0 groups for 8 and 16");
  CHECK(refusal([](S& s) { s.groups = 3; }) ==
        "[conv2d] groups must divide input and output channels; got 3 groups for 8 and 16");
  CHECK(refusal([](S& s) { s.groups = 8, s.k = 12; }) ==
        "[conv2d] groups must divide input and output channels; got 8 groups for 8 and 12");
  CHECK(refusal([](S& s) { s.x_stride = 7; }) ==
        "[conv2d] a pitch must hold the channels; got x_stride 7 for 8, y_stride 0 for 16");
  CHECK(refusal([](S& s) { s.y_stride = 15; }) ==
        "[conv2d] a pitch must hold the channels; got x_stride 0 for 8, y_stride 15 for 16");
  CHECK(refusal([](S& s) { s.r = 10; }) ==
        "[conv2d] the window is larger than the padded input in height; got window 10 on 9 + 0 + 0");
  CHECK(refusal([](S& s) { s.dilation_w = 5, s.pad_right = 1; }) ==
        "[conv2d] the window is larger than the padded input in width; got window 11 on 9 + 0 + 1");
  const int huge = std::numeric_limits<int>::max();
  CHECK(refusal([&](S& s) { s.h = huge, s.pad_top = 1; }) ==
        "[conv2d] the padded input is too large in height; got 2147483647 + 1 + 0");
  CHECK(refusal([&](S& s) { s.dilation_h = huge; }) != "no error");
}

TEST_CASE("pool2d: each bad field is refused by name", "[shapes]") {
  const auto refusal = [](auto&& change) {
    Pool2dShape shape = pool2d(9, 3, 2, 1, false);
    shape.c = 8;
    shape.check();
    change(shape);
    return message_of([&] { shape.check(); });
  };
  using S = Pool2dShape;
  CHECK(refusal([](S& s) { s.n = -1; }) == "[pool2d] needs an input of at least (0, 1, 1, 1); got (-1, 9, 9, 8)");
  CHECK(refusal([](S& s) { s.h = 0; }) == "[pool2d] needs an input of at least (0, 1, 1, 1); got (1, 0, 9, 8)");
  CHECK(refusal([](S& s) { s.w = 0; }) == "[pool2d] needs an input of at least (0, 1, 1, 1); got (1, 9, 0, 8)");
  CHECK(refusal([](S& s) { s.c = 0; }) == "[pool2d] needs an input of at least (0, 1, 1, 1); got (1, 9, 9, 0)");
  CHECK(refusal([](S& s) { s.r = 0; }) == "[pool2d] needs a window of at least 1x1; got 0x3");
  CHECK(refusal([](S& s) { s.s = 0; }) == "[pool2d] needs a window of at least 1x1; got 3x0");
  CHECK(refusal([](S& s) { s.stride_h = 0; }) == "[pool2d] stride must be at least 1; got 0x2");
  CHECK(refusal([](S& s) { s.stride_w = 0; }) == "[pool2d] stride must be at least 1; got 2x0");
  CHECK(refusal([](S& s) { s.pad_left = -1; }) ==
        "[pool2d] padding must not be negative; got top 1, left -1, bottom 1, right 1");
  CHECK(refusal([](S& s) { s.pad_top = 3; }) ==
        "[pool2d] padding must be smaller than the window; got top 3, left 1, bottom 1, right 1 for 3x3");
  CHECK(refusal([](S& s) { s.pad_right = 3; }) ==
        "[pool2d] padding must be smaller than the window; got top 1, left 1, bottom 1, right 3 for 3x3");
  CHECK(refusal([](S& s) { s.x_stride = 7; }) ==
        "[pool2d] a pitch must hold the channels; got x_stride 7 for 8, y_stride 0 for 8");
  CHECK(refusal([](S& s) { s.y_stride = 7; }) ==
        "[pool2d] a pitch must hold the channels; got x_stride 0 for 8, y_stride 7 for 8");
  CHECK(refusal([](S& s) { s.r = 12; }) ==
        "[pool2d] the window is larger than the padded input in height; got window 12 on 9 + 1 + 1");
  CHECK(refusal([](S& s) { s.s = 12; }) ==
        "[pool2d] the window is larger than the padded input in width; got window 12 on 9 + 1 + 1");
  CHECK(refusal([](S& s) { s.w = std::numeric_limits<int>::max() - 1; }) ==
        "[pool2d] the padded input is too large in width; got 2147483646 + 1 + 1");
}

TEST_CASE("gemm: sizes, work and refusals", "[shapes]") {
  GemmShape shape{2, 3, 4};
  shape.check();
  CHECK(shape.flops() == 48);
  CHECK(shape.bytes(4) == 4 * (8 + 12 + 6));
  CHECK(GemmShape{2, 3, 4, true, true}.a_pitch() == 2);
  CHECK(GemmShape{2, 3, 4, true, true}.b_pitch() == 4);
  CHECK(GemmShape{100000, 100000, 100000}.flops() == int64_t{2000000000000000});
  CHECK(message_of([] { GemmShape{-1, 3, 4}.check(); }) == "[gemm] sizes must not be negative; got m -1, n 3, k 4");
  const std::string pitches = "[gemm] a leading dimension is smaller than its row; got ";
  CHECK(message_of([] { GemmShape{2, 3, 4, false, false, 3}.check(); }) ==
        pitches + "lda 3, ldb 0, ldc 0 for m 2, n 3, k 4");
  CHECK(message_of([] { GemmShape{2, 3, 4, false, true, 0, 3}.check(); }) ==
        pitches + "lda 0, ldb 3, ldc 0 for m 2, n 3, k 4");
  CHECK(message_of([] { GemmShape{2, 3, 4, false, false, 0, 0, 2}.check(); }) ==
        pitches + "lda 0, ldb 0, ldc 2 for m 2, n 3, k 4");
}

std::string text(const BroadcastShape& shape) {
  std::string all;
  for (int d = 0; d < shape.dims; ++d) {
    all += (d ? " " : "") + std::to_string(shape.size[d]) + ":" + std::to_string(shape.a_stride[d]) + "," +
           std::to_string(shape.b_stride[d]);
  }
  return all;
}

BroadcastShape broadcast(const std::vector<int>& a, const std::vector<int>& b) {
  return BroadcastShape::of(a.data(), static_cast<int>(a.size()), b.data(), static_cast<int>(b.size()));
}

TEST_CASE("broadcast: sizes and strides, neighbours merged", "[shapes]") {
  CHECK(text(broadcast({}, {})) == "");
  CHECK(broadcast({}, {}).count() == 1);
  CHECK(text(broadcast({2, 3, 4}, {2, 3, 4})) == "24:1,1");
  CHECK(text(broadcast({8, 14, 14, 24}, {24})) == "1568:24,0 24:1,1");
  CHECK(text(broadcast({24}, {8, 14, 14, 24})) == "1568:0,24 24:1,1");
  CHECK(text(broadcast({2, 3}, {})) == "6:1,0");
  CHECK(text(broadcast({4, 1}, {1, 5})) == "4:1,0 5:0,1");
  CHECK(text(broadcast({4, 3, 5}, {4, 1, 5})) == "4:15,5 3:5,0 5:1,1");
  CHECK(text(broadcast({1, 1, 7}, {7})) == "7:1,1");
  CHECK(text(broadcast({2, 5, 1, 7}, {5, 9, 1})) == "2:35,0 5:7,9 9:0,1 7:1,0");
  CHECK(broadcast({0, 3}, {3}).count() == 0);
  CHECK(broadcast({0, 1}, {1, 4}).count() == 0);
  CHECK(broadcast({70000, 70000}, {1}).count() == int64_t{4900000000});
}

TEST_CASE("broadcast: sizes that don't fit are refused", "[shapes]") {
  CHECK(message_of([] {
          broadcast({2, 3}, {4});
        }) == "[broadcast] sizes must be equal or 1; got 3 and 4 in dimension 1 of 2");
  CHECK(message_of([] {
          broadcast({2, 3}, {0, 3});
        }) == "[broadcast] sizes must be equal or 1; got 2 and 0 in dimension 0 of 2");
  CHECK(message_of([] { broadcast({1, 1, 1, 1, 1, 1, 1}, {2}); }) == "[broadcast] at most 6 dimensions; got 7");
}

TEST_CASE("sum and transpose: counts and refusals", "[shapes]") {
  ReduceShape reduce;
  reduce.dims = 3;
  reduce.size = {2, 3, 4};
  reduce.reduced = {true, false, true};
  CHECK(reduce.in_count() == 24);
  CHECK(reduce.out_count() == 3);
  CHECK(ReduceShape{}.in_count() == 1);
  CHECK(ReduceShape{}.out_count() == 1);

  TransposeShape transpose;
  transpose.dims = 3;
  transpose.size = {2, 3, 4};
  transpose.axes = {2, 0, 1};
  transpose.check();
  CHECK(transpose.count() == 24);
  transpose.axes = {2, 0, 2};
  CHECK(message_of([&] { transpose.check(); }) == "[transpose] axes must be a permutation of 0..2; got 2 at 2");
  transpose.axes = {0, 3, 1};
  CHECK(message_of([&] { transpose.check(); }) == "[transpose] axes must be a permutation of 0..2; got 3 at 1");
  transpose.axes = {-1, 0, 1};
  CHECK(message_of([&] { transpose.check(); }) == "[transpose] axes must be a permutation of 0..2; got -1 at 0");
}

}  // namespace
}  // namespace dnn::test
