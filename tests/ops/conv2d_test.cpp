#include "ops_test.h"

#include <libdnn/ops/activation.h>
#include <libdnn/ops/concat.h>
#include <libdnn/ops/conv2d.h>

namespace dnn::test {
namespace {

Tensor ones64(const Shape& shape) {
  return from_vector(std::vector<double>(static_cast<size_t>(shape.numel()), 1.0), shape, "reference");
}

TEST_CASE("conv2d op: value", "[ops]") {
  // A 3x3 picture under a 2x2 filter.
  const Tensor x = leaf64({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 3, 3, 1}), w = leaf64({1, 0, 0, -1}, {1, 2, 2, 1});
  check_values(conv2d(x, w, Tensor()), {-4, -4, -4, -4});
  const Tensor residual = leaf64({0, 1, 2, 10}, {1, 2, 2, 1}), bias = leaf64({2}, {1});
  check_values(conv2d(x, w, bias, {.activation = Activation::relu}, residual), {0, 0, 0, 8});
  // Padding above and left only.
  check_values(conv2d(x, w, Tensor(), {.padding = {1, 1, 0, 0}}), {-1, -2, -3, -4, -4, -4, -7, -4, -4});
}

struct Case {
  const char* name;
  Shape x, w;
  Conv2dOptions options;
};

const std::vector<Case> kCases{
    {"plain", {2, 5, 4, 3}, {4, 3, 3, 3}, {}},
    {"strides differ", {2, 6, 7, 2}, {3, 3, 2, 2}, {.stride = {2, 3}, .padding = {1, 0, 2, 1}}},
    {"dilation", {1, 7, 8, 2}, {3, 3, 2, 2}, {.padding = {2, 1, 2, 1}, .dilation = {2, 3}}},
    {"groups and stride", {2, 5, 5, 4}, {6, 3, 3, 2}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 2}},
    {"depthwise", {2, 5, 5, 9}, {9, 3, 3, 1}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 9}},
    {"1x1", {2, 3, 3, 9}, {17, 1, 1, 9}, {}},
    {"padding above k - 1", {1, 3, 3, 2}, {3, 2, 2, 2}, {.padding = {3, 2, 3, 2}}},
};

TEST_CASE("conv2d op: gradients and rows", "[ops]") {
  for (const Case& c : kCases) {
    INFO(c.name);
    const Tensor x = random64(c.x, 1), w = random64(c.w, 2), bias = random64({c.w[0]}, 3);
    check_op([&](const TensorList& t) { return TensorList{conv2d(t[0], t[1], t[2], c.options)}; }, {x, w, bias});
    check_op([&](const TensorList& t) { return TensorList{conv2d(t[0], t[1], Tensor(), c.options)}; }, {x, w});
  }
}

TEST_CASE("conv2d op: fused activation and residual", "[ops]") {
  const Case& c = kCases[1];
  const Tensor x = random64(c.x, 1), w = random64(c.w, 2), bias = random64({c.w[0]}, 3);
  const Tensor residual = random64(conv2d(x, w, bias, c.options).shape(), 4);
  for (const Activation activation : {Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh}) {
    INFO("activation " << static_cast<int>(activation.op));
    Conv2dOptions options = c.options;
    options.activation = activation;
    check_op([&](const TensorList& t) { return TensorList{conv2d(t[0], t[1], t[2], options, t[3])}; },
             {x, w, bias, residual});
    check_op([&](const TensorList& t) { return TensorList{conv2d(t[0], t[1], Tensor(), options, t[2])}; },
             {x, w, residual});
  }
}

TEST_CASE("conv2d op: each gradient alone", "[ops]") {
  const Case& c = kCases[1];
  const Tensor x = random64(c.x, 1), w = random64(c.w, 2), bias = random64({c.w[0]}, 3);
  const Tensor x0 = x.detach(), w0 = w.detach(), bias0 = bias.detach();
  for (const Activation activation : {Activation::none, Activation::relu}) {
    Conv2dOptions options = c.options;
    options.activation = activation;
    check_gradients([&](const TensorList& t) { return TensorList{conv2d(t[0], w0, bias0, options)}; }, {x});
    check_gradients([&](const TensorList& t) { return TensorList{conv2d(x0, t[0], bias0, options)}; }, {w});
    check_gradients([&](const TensorList& t) { return TensorList{conv2d(x0, w0, t[0], options)}; }, {bias});
    check_gradients([&](const TensorList& t) { return TensorList{conv2d(x0, w0, bias0, options, t[0])}; },
                    {random64(conv2d(x0, w0, bias0, options).shape(), 5)});
  }
}

TEST_CASE("conv2d op: the bias gradient does not depend on the weight's", "[ops]") {
  const Tensor x = random64({2, 4, 4, 3}, 1).detach(), w = random64({5, 3, 3, 3}, 2), bias = random64({5}, 3);
  const Tensor dy = upstream_for(conv2d(x, w, bias));
  conv2d(x, w, bias).backward(dy);
  const std::vector<double> both = values_of(bias.grad());
  bias.set_grad(Tensor());
  conv2d(x, w.detach(), bias).backward(dy);
  CHECK(values_of(bias.grad()) == both);
}

TEST_CASE("conv2d op: the upstream gradient of others is left alone", "[ops]") {
  const Tensor x = random64({1, 4, 4, 2}, 1), w = random64({3, 3, 3, 2}, 2), bias = random64({3}, 3);
  const Tensor y = conv2d(x, w, bias, {.activation = Activation::relu});
  const Tensor dy = upstream_for(y);
  y.backward(dy);
  check_values(dy, values_of(upstream_for(y)));
}

TEST_CASE("conv2d op: weight gradient of a depthwise convolution, by hand", "[ops]") {
  for (const int channels : {1, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33}) {
    const Tensor w = ones64({channels, 3, 3, 1}).requires_grad(true);
    const Conv2dOptions options{.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = channels};
    std::vector<std::pair<Shape, std::vector<double>>> pictures{{{1, 6, 6, channels}, {4, 6, 6, 6, 9, 9, 6, 9, 9}},
                                                                {{1, 7, 5, channels}, {6, 9, 6, 8, 12, 8, 6, 9, 6}}};
    for (const auto& [shape, filter] : pictures) {
      std::vector<double> expected;
      for (int c = 0; c < channels; ++c) expected.insert(expected.end(), filter.begin(), filter.end());
      w.set_grad(Tensor());
      const Tensor y = conv2d(ones64(shape), w, Tensor(), options);
      y.backward(ones64(y.shape()));
      check_values(w.grad(), expected);
      for (const std::string& row : float_rows()) {
        INFO(row << ", " << channels << " channels");
        const Tensor w32 = float_copy(w, row), y32 = conv2d(float_copy(ones64(shape), row), w32, Tensor(), options);
        y32.backward(float_copy(ones64(y.shape()), row));
        check_values(w32.grad(), expected);
      }
    }
  }
}

TEST_CASE("conv2d op: groups are separate convolutions", "[ops]") {
  const Tensor x = random64({2, 6, 5, 6}, 1), w = random64({9, 3, 3, 2}, 2), bias = random64({9}, 3);
  const Conv2dOptions options{.stride = {2, 3}, .padding = {1, 1, 1, 1}, .groups = 3};
  Conv2dOptions alone = options;
  alone.groups = 1;
  const auto separate = [&] {
    const TensorList xs = split(x, {2, 2, 2}, -1), ws = split(w, {3, 3, 3}, 0), biases = split(bias, {3, 3, 3}, 0);
    TensorList ys;
    for (size_t g = 0; g < 3; ++g) ys.push_back(conv2d(xs[g], ws[g], biases[g], alone));
    return concat(ys, -1);
  };
  const Tensor y = conv2d(x, w, bias, options), dy = upstream_for(y);
  y.backward(dy);
  TensorList grads;
  for (const Tensor& t : {x, w, bias}) {
    grads.push_back(t.grad());
    t.set_grad(Tensor());
  }
  const Tensor joined = separate();
  check_values(joined, values_of(y), 1e-12);
  joined.backward(dy);
  check_values(x.grad(), values_of(grads[0]), 1e-12);
  check_values(w.grad(), values_of(grads[1]), 1e-12);
  check_values(bias.grad(), values_of(grads[2]), 1e-12);
}

TEST_CASE("conv2d op: an empty batch", "[ops]") {
  const TensorList in{random64({0, 5, 5, 3}, 1), random64({4, 3, 3, 3}, 2), random64({4}, 3)};
  const Op f = [](const TensorList& t) { return TensorList{conv2d(t[0], t[1], t[2])}; };
  check_empty(f, in, {0, 3, 3, 4});
  for (const std::string& row : float_rows()) {
    INFO(row);
    check_empty(f, {float_copy(in[0], row), float_copy(in[1], row), float_copy(in[2], row)}, {0, 3, 3, 4});
  }
}

TEST_CASE("conv2d op: bad input", "[ops]") {
  const Tensor x = zeros({1, 5, 5, 3}), w = zeros({4, 3, 3, 3}), b = zeros({4});
  CHECK_THROWS_WITH(conv2d(zeros({5, 5, 3}), w, b), Contains("[conv2d] x must have 4 dimensions; got (5, 5, 3)"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 3, 3, 2}), b), Contains("[conv2d]") && Contains("(4, 3, 3, 2)"));
  CHECK_THROWS_WITH(conv2d(x, w, zeros({3})), Contains("[conv2d] bias must be (4); got (3)"));
  CHECK_THROWS_WITH(conv2d(x, w, b, {.stride = {0, 1}}), Contains("[conv2d]") && Contains("0x1"));
  CHECK_THROWS_WITH(conv2d(x, w, b, {.groups = 2}), Contains("[conv2d]") && Contains("2 groups"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 7, 3, 3}), b), Contains("[conv2d]") && Contains("height"));
  CHECK_THROWS_WITH(conv2d(x, w, b, {.padding = {0, -1, 0, 0}}), Contains("[conv2d]") && Contains("left -1"));
  CHECK_THROWS_WITH(conv2d(x, w, b, {}, zeros({1, 3, 3, 3})), Contains("[conv2d] residual must be (1, 3, 3, 4)"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 3, 3, 3}, DType::float32, "reference"), b), Contains("one device"));
}

}  // namespace
}  // namespace dnn::test
