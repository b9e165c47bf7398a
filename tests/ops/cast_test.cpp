#include <libdnn/ops/arange.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/ops/reduce.h>

#include "ops_test.h"

namespace dnn::test {
namespace {

TEST_CASE("to: types there and back, the tensor itself where nothing changes", "[ops][cast]") {
  const Tensor x = tensor({-1.5f, 0, 0.1f, 300}, {2, 2});
  CHECK(x.to(DType::float32).impl() == x.impl());
  CHECK(x.to(DType::int64).to_vector<int64_t>() == std::vector<int64_t>{-1, 0, 0, 300});
  CHECK(x.to(DType::uint8).to_vector<uint8_t>() == std::vector<uint8_t>{0, 0, 0, 255});
  CHECK(x.to(DType::boolean).to_vector<bool>() == std::vector<bool>{true, false, true, true});
  CHECK(x.to(DType::bfloat16).to(DType::float32).to_vector<float>()[2] == 0.10009765625f);
  CHECK(x.to(DType::float16).shape() == Shape{2, 2});
  CHECK(x.to(DType::float64).to(DType::float32).to_vector<float>() == x.to_vector<float>());
  CHECK(Tensor({3}, DType::float32, "meta").to(DType::int64).dtype() == DType::int64);
  CHECK(zeros({0, 3}).to(DType::float16).numel() == 0);
  CHECK_THROWS_WITH(Tensor().to(DType::int32), Contains("before it was given a value"));
}

TEST_CASE("to: the gradient comes back in the type of the tensor", "[ops][cast]") {
  const Tensor x = tensor({1, 2, 3}, {3}).requires_grad(true);
  const Tensor half = x.to(DType::bfloat16), wide = half.to(DType::float32);
  CHECK(half.requires_grad());
  sum(wide * wide + half.to(DType::float32)).backward();
  CHECK(x.grad().dtype() == DType::float32);
  check_values(x.grad(), {3, 5, 7});
  CHECK_FALSE(x.to(DType::int32).requires_grad());
  const Tensor leaf = tensor({1, 2}, {2}).to(DType::float16).requires_grad(true);
  for (int i = 0; i < 2; ++i) sum(leaf.to(DType::float32) * 3.0).backward();
  CHECK(leaf.grad().dtype() == DType::float16);
  check_values(leaf.grad().to(DType::float32), {6, 6});
  check_gradients([](const TensorList& t) { return TensorList{(t[0] * t[0]).to(DType::float64)}; }, {random64({4}, 1)});
}

TEST_CASE("arange: as torch.arange", "[ops][cast]") {
  CHECK(arange(4).to_vector<int64_t>() == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(arange(5, 0, -2).to_vector<int64_t>() == std::vector<int64_t>{5, 3, 1});
  CHECK(arange(0, 1, 0.25).to_vector<float>() == std::vector<float>{0, 0.25, 0.5, 0.75});
  CHECK(arange(0, 3, 1, DType::int32, "reference").to_vector<int32_t>() == std::vector<int32_t>{0, 1, 2});
  CHECK(arange(0).shape() == Shape{0});
  CHECK_THROWS_WITH(arange(0, 3, -1), "[arange] the step must lead from start to end; got 0 to 3 by -1");
  CHECK_THROWS_WITH(arange(0, 3, 0), Contains("by 0"));
  CHECK_THROWS_WITH(arange(0, INFINITY), Contains("[arange]"));
}

TEST_CASE("cross_entropy, nll_loss: int64 labels are as good as int32", "[ops][cast]") {
  const Tensor x = tensor({0.5f, -1, 2, 0, 1, -0.5f}, {2, 3});
  const Tensor narrow = from_vector<int32_t>({2, -100}, {2}), wide = narrow.to(DType::int64);
  CHECK(cross_entropy(x, wide).item() == cross_entropy(x, narrow).item());
  CHECK(nll_loss(x, wide).item() == nll_loss(x, narrow).item());
  CHECK_THROWS_WITH(cross_entropy(x, from_vector<int64_t>({0, (int64_t{1} << 32) + 1}, {2})).item(),
                    Contains("label 2147483647 or above of sample 1 is outside 0..2"));
  CHECK_THROWS_WITH(nll_loss(x, zeros({2}, DType::uint8)), Contains("labels must be int32 or int64; got uint8"));
}

}  // namespace
}  // namespace dnn::test
