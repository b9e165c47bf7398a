#include <catch2/catch.hpp>

#include <libdnn/dnn.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("counted: one in the singular", "[core]") {
  CHECK(counted(0, "picture") == "0 pictures");
  CHECK(counted(1, "picture") == "1 picture");
  CHECK(counted(2, "picture") == "2 pictures");
  CHECK(counted(1, "class", "classes") == "1 class");
  CHECK(counted(10, "class", "classes") == "10 classes");
}

TEST_CASE("counted: messages of operations", "[core]") {
  CHECK_THROWS_WITH(from_vector<float>({}, {1}), Contains("shape (1) has 1 element;"));
  CHECK_THROWS_WITH(zeros({1}).reshape({2}), Contains("(1) has 1 element and"));
  CHECK_THROWS_WITH(conv2d(zeros({1, 3, 3, 2}), zeros({1, 1, 1, 1}), Tensor()), Contains("in 1 group"));
}

}  // namespace
}  // namespace dnn
