#include <catch2/catch.hpp>
#include <limits>
#include <sstream>

#include <libdnn/core/tensor.h>
#include <libdnn/ops/arange.h>

namespace dnn {
namespace {

std::string printed(const Tensor& t) {
  std::ostringstream out;
  out << t;
  return out.str();
}

// As PyTorch prints the same, but for the names of types and devices.
TEST_CASE("print: numbers", "[print]") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(printed(tensor({1, 2.5f, -3}, {3})) == "tensor([ 1.0000,  2.5000, -3.0000])");
  CHECK(printed(tensor({1, 2, -3}, {3})) == "tensor([ 1.,  2., -3.])");
  CHECK(printed(tensor({7}, {})) == "tensor(7.)");
  CHECK(printed(tensor({0.1f, 2000}, {2})) == "tensor([1.0000e-01, 2.0000e+03])");
  CHECK(printed(tensor({0.00001f}, {1})) == "tensor([1.0000e-05])");
  CHECK(printed(tensor({0, kInfinity, -1}, {3})) == "tensor([ 0., inf, -1.])");
  CHECK(printed(from_vector<int64_t>({1, -20}, {2})) == "tensor([  1, -20], dtype=int64)");
  CHECK(printed(from_vector<uint8_t>({1, 200}, {2})) == "tensor([  1, 200], dtype=uint8)");
  CHECK(printed(from_vector<bool>({true, false}, {2})) == "tensor([ true, false], dtype=bool)");
  CHECK(printed(from_vector<BFloat16>({0.1f}, {1})) == "tensor([0.1001], dtype=bfloat16)");
}

TEST_CASE("print: dimensions, sizes, devices", "[print]") {
  CHECK(printed(arange(0, 4, 1, DType::float32).reshape({2, 2})) == "tensor([[0., 1.],\n        [2., 3.]])");
  CHECK(printed(ones({2, 1, 2})) == "tensor([[[1., 1.]],\n\n        [[1., 1.]]])");
  CHECK(printed(zeros({0})) == "tensor([])");
  CHECK(printed(zeros({0, 3}, DType::int32)) == "tensor([], size=(0, 3), dtype=int32)");
  CHECK(printed(zeros({1}, DType::float32, "reference")) == "tensor([0.], device=reference)");
  CHECK(printed(Tensor({2, 3}, DType::float16, "meta")) == "tensor(..., size=(2, 3), dtype=float16, device=meta)");
  CHECK(printed(Tensor()) == "tensor(undefined)");
  std::ostringstream out;
  out << Shape{2, 3} << Shape{};
  CHECK(out.str() == "(2, 3)()");
}

TEST_CASE("print: many elements are shortened, long lines broken", "[print]") {
  CHECK(printed(arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000], dtype=int64)");
  const std::string matrix = printed(arange(0, 2000, 1, DType::float32).reshape({50, 40}));
  CHECK(matrix.starts_with("tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 3.7000e+01, 3.8000e+01,"));
  CHECK(std::count(matrix.begin(), matrix.end(), '[') == 7);
  const std::string line = printed(zeros({30}));
  CHECK(line.find('\n') != std::string::npos);
  CHECK(line.find('\n') <= 80);
}

}  // namespace
}  // namespace dnn
