#include <catch2/catch.hpp>

#include <cmath>

#include <libdnn/layers/activation.h>

#include "layers_test.h"

namespace dnn {
namespace {

TEST_CASE("ReLU, Sigmoid, Tanh, Softmax: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK(test::names_and_shapes(ReLU()).empty());
  ReLU relu;
  Sigmoid sigmoid;
  Tanh tanh;
  Softmax softmax;
  const Tensor x = tensor({-1, 0, 2}, {1, 3});
  CHECK(relu(x).to_vector<float>() == std::vector<float>{0, 0, 2});
  CHECK(sigmoid(x).to_vector<float>()[1] == 0.5f);
  CHECK(tanh(x).to_vector<float>()[2] == Approx(std::tanh(2.0)));
  CHECK(softmax(tensor({0, 0}, {1, 2})).to_vector<float>() == std::vector<float>{0.5, 0.5});
}

TEST_CASE("the other activation layers: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  const Tensor x = tensor({-1, 7}, {1, 2});
  const auto check = [&](auto layer, float at_minus_1, float at_7) {
    INFO(layer.type_name());
    const std::vector<float> y = (*layer.clone())(x).template to_vector<float>();
    CHECK(y[0] == Approx(at_minus_1));
    CHECK(y[1] == Approx(at_7));
  };
  check(Identity(), -1, 7);
  check(ReLU6(), 0, 6);
  check(Hardsigmoid(), 1.0f / 3, 1);  // torch's; ONNX's default slope differs
  check(Hardswish(), -1.0f / 3, 7);
  check(SiLU(), -0.26894142f, 6.9936226f);
  check(GELU(), -0.15865525f, 7);
  check(GELU(GeluApproximate::tanh), -0.15880801f, 7);
  check(Mish(), -0.30340146f, 6.9999885f);
  check(LogSigmoid(), -1.3132617f, -0.00091146637f);
  check(Hardtanh(), -1, 1);
  check(Hardtanh(-0.5, 8), -0.5f, 7);
  check(LeakyReLU(0.1), -0.1f, 7);
  check(ELU(2), -1.2642411f, 7);
  check(Softplus(2), 0.063464f, 7.0000004f);
}

}  // namespace
}  // namespace dnn
