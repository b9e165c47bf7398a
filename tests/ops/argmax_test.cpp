#include "ops_test.h"

#include <libdnn/ops/argmax.h>

namespace dnn::test {
namespace {

TEST_CASE("argmax op", "[ops]") {
  std::vector<std::string> rows = float_rows();
  rows.push_back("reference");
  for (const std::string& row : rows) {
    INFO(row);
    const Tensor x = tensor({1, 3, 2, 5, 5, 0, 0, std::nanf(""), 9}, {3, 3}, row).requires_grad(true);
    const Tensor y = argmax(x);
    CHECK(y.shape() == Shape{3});
    CHECK(y.to_vector<int32_t>() == std::vector<int32_t>{1, 0, 1});
    CHECK_FALSE(y.requires_grad());
    CHECK(argmax(tensor({1, 2}, {2}, row)).shape() == Shape{});
    CHECK(argmax(Tensor({0, 3}, DType::float32, row)).shape() == Shape{0});
  }
  CHECK_THROWS_WITH(argmax(Tensor({2, 0})), Contains("[argmax]") && Contains("(2, 0)"));
}

}  // namespace
}  // namespace dnn::test
