#include <catch2/catch.hpp>

#include <libdnn/layers/activation.h>
#include <cmath>

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

}  // namespace
}  // namespace dnn
