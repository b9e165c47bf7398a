#include "ops_test.h"

#include <libdnn/ops/conv_transpose2d.h>

namespace dnn::test {
namespace {

TEST_CASE("conv_transpose2d op: value", "[ops]") {
  // As torch.nn.functional.conv_transpose2d gives them, its weight (C, K, R, S) brought to (C, R, S, K).
  const Tensor x = leaf64({1, 2, 3, -1}, {1, 2, 2, 1}), w = leaf64({1, 2, 3, 4, 5, 6}, {1, 2, 3, 1});
  const Tensor bias = leaf64({0.5}, {1});
  const ConvTranspose2dOptions options{.stride = {2, 2}, .padding = {1, 1, 1, 1}, .output_padding = {1, 1}};
  const std::vector<double> expected{5.5, 14.5, 10.5, 12.5, 6.5, 8.5, -1.5, -2.5, 15.5, 14.5, -4.5, -5.5};
  CHECK(conv_transpose2d(x, w, bias, options).shape() == Shape{1, 3, 4, 1});
  check_values(conv_transpose2d(x, w, bias, options), expected);

  const Tensor x2 = leaf64({1, 5, 2, 6, 3, 7, 4, 8}, {1, 2, 2, 2});
  const Tensor w2 = leaf64({-7, -3, -6, -2, -5, -1, -4, 0, 1, 5, 2, 6, 3, 7, 4, 8}, {2, 2, 2, 2});
  check_values(conv_transpose2d(x2, w2, Tensor()),
               {-2, 22, -4, 52, 0, 32, -4, 60, 0, 144, 8, 88, 6, 46, 20, 108, 16, 64});
}

TEST_CASE("conv_transpose2d op: an output_padding of the stride and more", "[ops]") {
  // (2 - 1) * 1 + 2 * (3 - 1) + 1 + 1 = 7. Pixel (i, j) adds w(r, s) times it at (i + 2 r, j + 2 s).
  const Tensor x = leaf64({1, 2, 3, 4}, {1, 2, 2, 1}), w = leaf64({1, 0, 2, 0, 0, 0, 3, 0, -1}, {1, 3, 3, 1});
  const ConvTranspose2dOptions options{.output_padding = {1, 1}, .dilation = {2, 2}};
  const Tensor y = conv_transpose2d(x, w, leaf64({0.5}, {1}), options);
  CHECK(y.shape() == Shape{1, 7, 7, 1});
  std::vector<double> expected(49, 0.5);
  const double pixels[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) {
    for (const auto& [at, weight] : {std::pair(0, 1), std::pair(4, 2), std::pair(28, 3), std::pair(32, -1)}) {
      expected[static_cast<size_t>(i / 2 * 7 + i % 2 + at)] += weight * pixels[i];
    }
  }
  check_values(y, expected);
  // All in its rows and columns beyond the last window: the bias.
  const Tensor beyond =
      conv_transpose2d(leaf64({5}, {1, 1, 1, 1}), leaf64({1, 2, 3, 4}, {1, 2, 2, 1}), leaf64({0.5}, {1}),
                       {.padding = {3, 3, 0, 0}, .output_padding = {1, 1}, .dilation = {2, 2}});
  check_values(beyond, {0.5});
}

struct Case {
  const char* name;
  Shape x, w;
  ConvTranspose2dOptions options;
};

const std::vector<Case> kCases{
    {"plain", {2, 4, 3, 3}, {3, 3, 3, 4}, {}},
    {"doubles", {2, 3, 4, 9}, {9, 2, 2, 5}, {.stride = {2, 2}}},
    {"strides differ",
     {2, 4, 3, 2},
     {2, 3, 2, 3},
     {.stride = {2, 3}, .padding = {1, 0, 2, 1}, .output_padding = {1, 2}}},
    {"dilation", {1, 4, 5, 2}, {2, 3, 2, 3}, {.padding = {2, 1, 2, 1}, .dilation = {2, 3}}},
    {"output_padding below the dilation",
     {2, 3, 4, 2},
     {2, 3, 2, 3},
     {.stride = {1, 2}, .padding = {1, 0, 2, 1}, .output_padding = {1, 4}, .dilation = {2, 5}}},
    {"groups", {2, 3, 4, 4}, {4, 3, 3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 2}},
    {"depthwise", {2, 3, 3, 9}, {9, 4, 4, 1}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 9}},
    {"1x1", {2, 3, 3, 9}, {9, 1, 1, 17}, {}},
};

TEST_CASE("conv_transpose2d op: gradients and rows", "[ops]") {
  for (const Case& c : kCases) {
    INFO(c.name);
    const Tensor x = random64(c.x, 1), w = random64(c.w, 2), bias = random64({c.w[3] * c.options.groups}, 3);
    check_op([&](const TensorList& t) { return TensorList{conv_transpose2d(t[0], t[1], t[2], c.options)}; },
             {x, w, bias});
    check_op([&](const TensorList& t) { return TensorList{conv_transpose2d(t[0], t[1], Tensor(), c.options)}; },
             {x, w});
  }
}

TEST_CASE("conv_transpose2d op: activations, and each gradient alone", "[ops]") {
  const Case& c = kCases[2];
  const Tensor x = random64(c.x, 1), w = random64(c.w, 2), bias = random64({c.w[3]}, 3);
  const Tensor x0 = x.detach(), w0 = w.detach(), bias0 = bias.detach();
  for (const Activation activation : {Activation::relu, Activation::tanh, Activation::silu}) {
    INFO("activation " << static_cast<int>(activation.op));
    ConvTranspose2dOptions options = c.options;
    options.activation = activation;
    check_op([&](const TensorList& t) { return TensorList{conv_transpose2d(t[0], t[1], t[2], options)}; },
             {x, w, bias});
    check_gradients([&](const TensorList& t) { return TensorList{conv_transpose2d(t[0], w0, bias0, options)}; }, {x});
    check_gradients([&](const TensorList& t) { return TensorList{conv_transpose2d(x0, t[0], bias0, options)}; }, {w});
    check_gradients([&](const TensorList& t) { return TensorList{conv_transpose2d(x0, w0, t[0], options)}; }, {bias});
  }
}

TEST_CASE("conv_transpose2d op: an empty batch", "[ops]") {
  const TensorList in{random64({0, 3, 4, 3}, 1), random64({3, 3, 3, 4}, 2), random64({4}, 3)};
  const Op f = [](const TensorList& t) { return TensorList{conv_transpose2d(t[0], t[1], t[2], {.stride = {2, 2}})}; };
  check_empty(f, in, {0, 7, 9, 4});
  for (const std::string& row : float_rows()) {
    INFO(row);
    check_empty(f, {float_copy(in[0], row), float_copy(in[1], row), float_copy(in[2], row)}, {0, 7, 9, 4});
  }
}

TEST_CASE("conv_transpose2d op: bad input", "[ops]") {
  const Tensor x = zeros({1, 5, 5, 4}), w = zeros({4, 3, 3, 2}), b = zeros({2});
  CHECK_THROWS_WITH(conv_transpose2d(zeros({5, 5, 4}), w, b), Contains("[conv_transpose2d] x must have 4"));
  CHECK_THROWS_WITH(conv_transpose2d(x, zeros({3, 3, 3, 2}), b), Contains("(3, 3, 3, 2) for x (1, 5, 5, 4)"));
  CHECK_THROWS_WITH(conv_transpose2d(x, w, zeros({3})), Contains("[conv_transpose2d] bias must be (2); got (3)"));
  CHECK_THROWS_WITH(conv_transpose2d(x, w, b, {.stride = {0, 1}}), Contains("[conv_transpose2d]") && Contains("0x1"));
  CHECK_THROWS_WITH(conv_transpose2d(x, w, b, {.groups = 3}), Contains("groups must divide") && Contains("3 for 4"));
  CHECK_THROWS_WITH(conv_transpose2d(x, w, b, {.padding = {4, 0, 4, 0}}), Contains("height") && Contains("4 + 4"));
  CHECK_THROWS_WITH(conv_transpose2d(x, w, b, {.padding = {0, -1, 0, 0}}), Contains("left -1"));
  for (const std::array<int, 2> more : {std::array{2, 0}, {0, 3}, {-1, 0}}) {
    CHECK_THROWS_WITH(conv_transpose2d(x, w, b, {.stride = {2, 3}, .output_padding = more}),
                      Contains("[conv_transpose2d] output_padding") && Contains("2x3"));
  }
  CHECK_THROWS_WITH(conv_transpose2d(x, w, b, {.output_padding = {0, 3}, .dilation = {4, 3}}),
                    Contains("output_padding is at least 0 and below the stride or the dilation; got 0x3"));
  CHECK_THROWS_WITH(conv_transpose2d(zeros({1, 4, 5, 5}), w, b), Contains("x looks like (N, C, H, W)"));
  CHECK_THROWS_WITH(conv_transpose2d(zeros({1, 1, 1, 4}), w, b, {.stride = {2, 2}, .output_padding = {-1, 0}}),
                    Contains("[conv_transpose2d]"));
  CHECK_THROWS_WITH(conv_transpose2d(zeros({1, 0, 5, 4}), w, b), Contains("[conv_transpose2d]"));
  CHECK_THROWS_WITH(conv_transpose2d(x, w, b, {.stride = {1, 1 << 29}}),
                    Contains("the result is too large in width; got 2147483651"));
}

}  // namespace
}  // namespace dnn::test
