#include <catch2/catch.hpp>
#include <cmath>
#include <thread>
#include <vector>

#include <libdnn/dnn.h>

// Tensors on the row of the CUDA kernels that are compiled for the CPU: what the kernels that there are allow.
namespace dnn::test {
namespace {

Tensor on_first(const std::vector<float>& values, const Shape& shape) {
  return from_vector(values, shape, "cuda_emulated");
}

TEST_CASE("cuda_emulated: two devices", "[cuda_emulated]") {
  CHECK(Device("cuda_emulated:1").name() == "cuda_emulated:1");
  CHECK(Device("cuda_emulated").name() == "cuda_emulated");
  CHECK_THROWS_WITH(Device("cuda_emulated:2"),
                    "[device] there is no device cuda_emulated:2; cuda_emulated has 2 devices");
}

TEST_CASE("cuda_emulated: values there and back", "[cuda_emulated]") {
  const std::vector<float> values{1, -2, 3, -4, 5, -6};
  const Tensor x = on_first(values, {2, 3});
  CHECK(x.device().name() == "cuda_emulated");
  const Tensor moved = x.to("cuda_emulated:1");
  CHECK(moved.device().name() == "cuda_emulated:1");
  const Tensor back = moved.to("cpu");
  CHECK(std::vector<float>(back.data<float>(), back.data<float>() + 6) == values);
  CHECK_THROWS_WITH(x + moved, Catch::Contains("cuda_emulated:1"));
}

TEST_CASE("cuda_emulated: a layer forward and backward", "[cuda_emulated]") {
  const Tensor x = on_first({1, 2, -1, 0.5f}, {2, 2}).requires_grad(true);
  const Tensor w = on_first({1, -1, 0, 2, 1, 1}, {2, 3}).requires_grad(true);
  const Tensor y = relu(matmul(x, w) * 2.0 + on_first({0.5f, -1, 1}, {1, 3}));
  // x w = (5, 1, 2), (0, 1.5, 0.5); times 2 plus the bias: (10.5, 1, 5), (0.5, 2, 2).
  const Tensor y_host = y.to("cpu");
  CHECK(std::vector<float>(y_host.data<float>(), y_host.data<float>() + 6) ==
        std::vector<float>{10.5f, 1, 5, 0.5f, 2, 2});
  y.backward(on_first({1, 0, 0, 0, 0, 1}, {2, 3}));
  const Tensor dx = x.grad().to("cpu"), dw = w.grad().to("cpu");
  // 2 * dy w^T and 2 * x^T dy.
  CHECK(std::vector<float>(dx.data<float>(), dx.data<float>() + 4) == std::vector<float>{2, 4, 0, 2});
  CHECK(std::vector<float>(dw.data<float>(), dw.data<float>() + 6) == std::vector<float>{2, 0, -2, 4, 0, 1});
}

TEST_CASE("cuda_emulated: permuted, sliced and filled", "[cuda_emulated]") {
  const Tensor x = on_first({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = permute(x, {1, 0}).slice(0, 1, 3).to("cpu");
  CHECK(y.shape() == Shape{2, 2});
  CHECK(std::vector<float>(y.data<float>(), y.data<float>() + 4) == std::vector<float>{2, 5, 3, 6});
  const Tensor sevens = full({5}, 7, DType::float32, "cuda_emulated:1").to("cpu");
  for (int i = 0; i < 5; ++i) CHECK(sevens.data<float>()[i] == 7);
}

TEST_CASE("cuda_emulated: two threads on two devices", "[cuda_emulated]") {
  constexpr int kSteps = 50;
  std::vector<float> result(2);
  const auto work = [&](int device) {
    Tensor x = from_vector(std::vector<float>(1000, 1.0f), {1000}, "cuda_emulated:" + std::to_string(device));
    for (int i = 0; i < kSteps; ++i) x = x + x * static_cast<double>(device);
    result[device] = x.to("cpu").data<float>()[999];
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  CHECK(result[0] == 1);
  CHECK(result[1] == std::ldexp(1.0f, kSteps));
}

TEST_CASE("cuda_emulated: a missing kernel is named", "[cuda_emulated]") {
  const Tensor x = on_first({1, 2}, {2});
  CHECK_THROWS_WITH(cumsum(x, 0), "[cumsum] no kernel on cuda_emulated");
}

}  // namespace
}  // namespace dnn::test
