#include <catch2/catch.hpp>

#include <libdnn/autograd/function.h>
#include <libdnn/autograd/gradcheck.h>
#include <libdnn/autograd/tape.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/concat.h>
#include <libdnn/ops/reduce.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("tape: a gradient reaches the leaf and grows", "[tape]") {
  Tensor x = tensor({-1, 2}, {2}).requires_grad(true);
  relu(x).backward(tensor({3, 4}, {2}));
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 4});
  relu(x).backward(tensor({3, 4}, {2}));
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 8});
}

TEST_CASE("tape: nothing is recorded under NoGrad or without a wish", "[tape]") {
  Tensor x = tensor({1}, {1}).requires_grad(true);
  {
    const NoGrad no_grad;
    CHECK_FALSE(relu(x).requires_grad());
  }
  CHECK(relu(x).requires_grad());
  CHECK_FALSE(relu(tensor({1}, {1})).requires_grad());
  CHECK_THROWS_WITH(relu(tensor({1}, {1})).backward(), Contains("nothing to do"));
}

TEST_CASE("tape: misuse is refused", "[tape]") {
  Tensor x = tensor({1, 2}, {2}).requires_grad(true);
  const Tensor y = relu(x);
  CHECK_THROWS_WITH(y.backward(), Contains("one element"));
  CHECK_THROWS_WITH(y.backward(tensor({1}, {1})), Contains("(2)") && Contains("(1)"));
  y.backward(tensor({1, 1}, {2}));
  CHECK_THROWS_WITH(y.backward(tensor({1, 1}, {2})), Contains("second time"));
  Tensor z = relu(x);
  CHECK_THROWS_WITH(z.requires_grad(false), Contains("leaf"));
  Tensor labels({2}, DType::int32);
  CHECK_THROWS_WITH(labels.requires_grad(true), Contains("int32"));
}

TEST_CASE("tape: a long chain is freed without recursion", "[tape]") {
  Tensor x = tensor({1}, {1}).requires_grad(true);
  Tensor y = x;
  for (int i = 0; i < 200000; ++i) y = relu(y);
  Tensor kept = y;
  y = Tensor();
  kept.backward();
  CHECK(x.grad().item() == 1);
  Tensor dropped = x;
  for (int i = 0; i < 200000; ++i) dropped = relu(dropped);
}

// Two results, of which the second is the first input handed through; the second input has no gradient.
struct ScaledAndSame {
  static constexpr const char* kName = "scaled_and_same";
  static TensorList forward(FunctionContext& context, const TensorList& in) {
    context.save({in[1]});
    Tensor y(in[0].shape(), in[0].dtype(), in[0].device());
    for (int64_t i = 0; i < y.numel(); ++i) y.data<double>()[i] = in[0].data<double>()[i] * in[1].data<double>()[0];
    return {y, in[0]};
  }
  static TensorList backward(FunctionContext& context, const TensorList& dy) {
    REQUIRE(context.needs_grad(0));
    REQUIRE_FALSE(context.needs_grad(1));
    const double scale = context.saved()[0].data<double>()[0];
    const Tensor& shape_of = dy[0].defined() ? dy[0] : dy[1];
    Tensor dx(shape_of.shape(), shape_of.dtype(), shape_of.device());
    for (int64_t i = 0; i < dx.numel(); ++i) {
      dx.data<double>()[i] =
          (dy[0].defined() ? scale * dy[0].data<double>()[i] : 0) + (dy[1].defined() ? dy[1].data<double>()[i] : 0);
    }
    return {dx, Tensor()};
  }
};

TEST_CASE("function: several results, an input without gradient, saved tensors", "[function]") {
  Tensor x = from_vector<double>({1, -2, 3}, {3}, "reference").requires_grad(true);
  const Tensor scale = from_vector<double>({5}, {1}, "reference");
  const auto f = [&](const TensorList& in) { return apply<ScaledAndSame>({in[0], scale}); };
  const GradcheckResult check = gradcheck(f, {x});
  INFO(check.message);
  CHECK(check.ok);
  x.set_grad(Tensor());
  f({x})[1].backward(from_vector<double>({1, 1, 1}, {3}, "reference"));
  CHECK(x.grad().to_vector<double>() == std::vector<double>{1, 1, 1});
}

struct WrongGradient {
  static constexpr const char* kName = "wrong";
  static TensorList forward(FunctionContext&, const TensorList& in) { return {in[0].clone()}; }
  static TensorList backward(FunctionContext&, const TensorList& dy) { return {sigmoid(dy[0])}; }
};

struct WrongShape {
  static constexpr const char* kName = "wrong_shape";
  static TensorList forward(FunctionContext&, const TensorList& in) { return {in[0].clone()}; }
  static TensorList backward(FunctionContext&, const TensorList&) { return {Tensor({7}, DType::float64, "reference")}; }
};

TEST_CASE("gradcheck finds a wrong gradient, and an empty check", "[gradcheck]") {
  Tensor x = from_vector<double>({1, -2, 3}, {3}, "reference").requires_grad(true);
  CHECK_FALSE(gradcheck([](const TensorList& in) { return apply<WrongGradient>(in); }, {x}).ok);
  Tensor negative = from_vector<double>({-1, -2}, {2}, "reference").requires_grad(true);
  const GradcheckResult zero = gradcheck([](const TensorList& in) { return TensorList{relu(in[0])}; }, {negative});
  CHECK_FALSE(zero.ok);
  CHECK_THAT(zero.message, Contains("zero"));
  CHECK_THROWS_WITH(apply<WrongShape>({x})[0].backward(x.detach()), Contains("wrong_shape") && Contains("(7)"));
}

TEST_CASE("tape: steps with lists and with single operands are numbered together", "[tape]") {
  // Many steps of the one kind first: then a count for each kind would send the lists' gradients too early or too late.
  Tensor y = full({1}, 1, DType::float64, "reference").requires_grad(true);
  for (int i = 0; i < 50; ++i) y = y * 1.0;
  const Tensor x = full({2}, 3, DType::float64, "reference").requires_grad(true);
  const TensorList parts = split(x, {1, 1}, 0);
  const Tensor left = parts[0] * 2.0;
  const Tensor joined = concat({left, parts[1], left * 5.0}, 0);
  sum(joined + concat({joined}, 0)).backward();
  CHECK(x.grad().to_vector<double>() == std::vector<double>{24, 2});
}

TEST_CASE("backward: after a step that threw, the rest of the graph goes on", "[tape]") {
  const Tensor w = ones({2}).requires_grad(true), v = ones({2}).requires_grad(true);
  const Tensor h = w * 2.0, used = v * 1.5;
  sum(used * 1.0).backward();
  const Tensor l = sum(h * 3.0) + sum(used);
  CHECK_THROWS_WITH(l.backward(), Catch::Matchers::Contains("backward a second time"));
  w.set_grad(Tensor());
  sum(h * 5.0).backward();
  REQUIRE(w.grad().defined());
  CHECK(w.grad().to_vector<float>() == std::vector<float>{10, 10});
}

TEST_CASE("backward: a gradient of another device is refused", "[tape]") {
  const Tensor w = ones({2}).requires_grad(true);
  CHECK_THROWS_WITH(
      (w + 1.0).backward(ones({2}, DType::float32, "meta")),
      Catch::Matchers::Contains("[backward] the gradient must be float32 (2)") && Catch::Matchers::Contains("on meta"));
}

}  // namespace
}  // namespace dnn
