// Slices, permutations, repetitions and indices against PyTorch's numbers: tests/data/indexing.py.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/concat.h>
#include <libdnn/ops/expand.h>
#include <libdnn/ops/gather.h>
#include <libdnn/ops/slice.h>
#include <libdnn/ops/squeeze.h>
#include <libdnn/ops/transpose.h>
#include <tests/files.h>

#include "ops_test.h"

namespace dnn::test {
namespace {

using Args = std::vector<int>;
using Call = std::function<TensorList(const Tensor&, const Args&)>;

std::vector<int> after(const Args& args, size_t first) {
  return {args.begin() + static_cast<int64_t>(first), args.end()};
}

// int32 and int64 in turn.
Tensor index_of(const std::vector<int>& values, const Shape& shape, const Tensor& x) {
  if (values.size() % 2 == 0) return from_vector<int32_t>(values, shape, x.device());
  return from_vector(std::vector<int64_t>(values.begin(), values.end()), shape, x.device());
}

const std::map<std::string, Call>& calls() {
  static const std::map<std::string, Call> all{
      {"slice", [](const Tensor& x, const Args& a) { return TensorList{x.slice(a[0], a[1], a[2], a[3])}; }},
      {"select", [](const Tensor& x, const Args& a) { return TensorList{select(x, a[0], a[1])}; }},
      {"narrow", [](const Tensor& x, const Args& a) { return TensorList{narrow(x, a[0], a[1], a[2])}; }},
      {"flip", [](const Tensor& x, const Args& a) { return TensorList{flip(x, a)}; }},
      {"split", [](const Tensor& x, const Args& a) { return split(x, a[0], a[1]); }},
      {"chunk", [](const Tensor& x, const Args& a) { return chunk(x, a[0], a[1]); }},
      {"squeeze", [](const Tensor& x, const Args& a) { return TensorList{a.empty() ? squeeze(x) : squeeze(x, a[0])}; }},
      {"unsqueeze", [](const Tensor& x, const Args& a) { return TensorList{unsqueeze(x, a[0])}; }},
      {"transpose", [](const Tensor& x, const Args& a) { return TensorList{transpose(x, a[0], a[1])}; }},
      {"permute", [](const Tensor& x, const Args& a) { return TensorList{permute(x, a)}; }},
      {"cat",
       [](const Tensor& x, const Args& a) {
         return TensorList{cat({x, x}, a[0])};
       }},
      {"stack",
       [](const Tensor& x, const Args& a) {
         return TensorList{stack({x, x}, a[0])};
       }},
      {"expand", [](const Tensor& x, const Args& a) { return TensorList{expand(x, a)}; }},
      {"repeat", [](const Tensor& x, const Args& a) { return TensorList{repeat(x, a)}; }},
      {"index_select",
       [](const Tensor& x, const Args& a) {
         return TensorList{index_select(x, a[0], index_of(after(a, 1), {static_cast<int>(a.size()) - 1}, x))};
       }},
      {"gather",
       [](const Tensor& x, const Args& a) {
         const Shape shape(a.data() + 1, x.dims());
         return TensorList{gather(x, a[0], index_of(after(a, 1 + static_cast<size_t>(x.dims())), shape, x))};
       }},
      {"embedding",
       [](const Tensor& x, const Args& a) {
         return TensorList{embedding(x, index_of(a, {2, 3}, x))};
       }},
  };
  return all;
}

std::vector<double> counting(int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return values;
}

void check_case(const nlohmann::json& c, const std::string& device, DType dtype) {
  const Shape shape(c.at("shape").get<std::vector<int>>());
  const Tensor x = from_vector(counting(shape.numel()), shape, device).to(dtype).requires_grad(true);
  const TensorList results = calls().at(c.at("op").get<std::string>())(x, c.at("args").get<Args>());
  REQUIRE(results.size() == c.at("y").size());
  TensorList grads;
  for (size_t j = 0; j < results.size(); ++j) {
    const Tensor& y = results[j];
    REQUIRE(y.shape() == Shape(c.at("y")[j].at("shape").get<std::vector<int>>()));
    REQUIRE(y.dtype() == dtype);
    REQUIRE(values_of(y) == c.at("y")[j].at("values").get<std::vector<double>>());
    std::vector<double> grad = counting(y.numel());
    for (double& g : grad) g = std::fmod(g, 7) + 1 + static_cast<double>(j);
    grads.push_back(from_vector(grad, y.shape(), device).to(dtype));
  }
  backward(results, grads);
  REQUIRE(values_of(x.grad()) == c.at("dx").get<std::vector<double>>());
}

TEST_CASE("indexing: results and gradients are PyTorch's", "[ops][indexing]") {
  std::ifstream file(source_path("tests/data/indexing.json"));
  const nlohmann::json cases = nlohmann::json::parse(file);
  REQUIRE(cases.size() > 500);
  for (const nlohmann::json& c : cases) {
    INFO(c.at("op") << " of " << c.at("shape") << " by " << c.at("args"));
    check_case(c, "reference", DType::float64);
    for (const std::string& row : float_rows()) check_case(c, row, DType::float32);
  }
}

TEST_CASE("indexing: elements of every type", "[ops][indexing]") {
  for (const DType dtype :
       {DType::float64, DType::float16, DType::bfloat16, DType::int32, DType::int64, DType::uint8, DType::boolean}) {
    INFO(name_of(dtype));
    const Tensor x = tensor({0, 1, 0, 1, 1, 1}, {2, 3}).to(dtype);
    const auto check = [&](const Tensor& y, const std::vector<double>& expected) {
      CHECK(y.dtype() == dtype);
      check_values(y.to(DType::float32), expected);
    };
    check(x[1], {1, 1, 1});
    check(x[0].slice(0, 1), {1, 0});
    check(transpose(x, 0, 1), {0, 1, 1, 1, 0, 1});
    check(cat({x, x}, 1), {0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1});
    check(expand(x[0], {2, 3}), {0, 1, 0, 0, 1, 0});
    check(flip(x[0], {0}), {0, 1, 0});
    check(index_select(x, 1, from_vector<int32_t>({1, 0}, {2})), {1, 0, 1, 1});
    check(gather(x, 1, from_vector<int64_t>({2, 0}, {2, 1})), {0, 1});
    check(split(x, 2, 1)[1], {0, 1});
  }
  CHECK_THROWS_WITH(cat({zeros({2}), zeros({2}, DType::int64)}), Contains("one dtype") && Contains("int64"));
}

TEST_CASE("indexing: gradients by finite differences", "[ops][indexing]") {
  const Tensor index = from_vector<int64_t>({2, 0, 2, 2}, {4}, exact_device());
  const Tensor each = from_vector<int32_t>({1, 0, 2, 1, 0, 0}, {2, 3}, exact_device());
  const auto one = [](auto f) { return [f](const TensorList& x) { return TensorList{f(x[0])}; }; };
  check_op(one([](const Tensor& x) { return x.slice(1, 1, 5, 2) * x.slice(1, 0, 2); }), {random64({2, 5}, 1)});
  check_gradients(one([&](const Tensor& x) { return index_select(x * x, 0, index); }), {random64({3, 2}, 2)});
  check_gradients(one([&](const Tensor& x) { return gather(x * x, 1, each); }), {random64({2, 3}, 3)});
  check_op(one([](const Tensor& x) { return expand(x * x, {4, 2, 3}); }), {random64({2, 1}, 4)});
  check_op(one([](const Tensor& x) { return repeat(x * x, {2, 3}); }), {random64({2, 2}, 5)});
  check_op(one([](const Tensor& x) { return stack({x[0] * x[1], x[-1]}, 1); }), {random64({2, 3}, 6)});
}

TEST_CASE("indexing: bad input", "[ops][indexing]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH(x[2], "[select] index 2 is outside -2..1 of dimension 0 of (2, 3)");
  CHECK_THROWS_WITH(select(x, 1, -4), Contains("index -4 is outside -3..2 of dimension 1"));
  CHECK_THROWS_WITH(select(x, 2, 0), Contains("no dimension 2"));
  CHECK_THROWS_WITH(zeros({})[0], Contains("no dimension 0"));
  CHECK_THROWS_WITH(x.slice(0, 0, 1, 0), "[slice] step must be at least 1; got 0");
  CHECK_THROWS_WITH(narrow(x, 1, 2, 2), "[narrow] 2 places from 2 on are not all in dimension 1 of (2, 3)");
  CHECK_THROWS_WITH(narrow(x, 1, 0, -1), Contains("[narrow]"));
  CHECK_THROWS_WITH(flip(x, {0, -2}), Contains("[flip]") && Contains("twice"));
  CHECK_THROWS_WITH(permute(x, {0, 0}), Contains("[permute]") && Contains("0 at 1"));
  CHECK_THROWS_WITH(transpose(x, 0, 2), Contains("no dimension 2"));
  CHECK_THROWS_WITH(unsqueeze(x, 3), "[unsqueeze] no place 3 for a dimension in (2, 3)");
  CHECK_THROWS_WITH(expand(x, {2, 4}), "[expand] (2, 3) does not broadcast to (2, 4)");
  CHECK_THROWS_WITH(expand(x, {3}), Contains("[expand]"));
  CHECK_THROWS_WITH(expand(x, {-1, 2, 3}), Contains("[expand]"));
  CHECK_THROWS_WITH(repeat(x, {2}), Contains("[repeat]"));
  CHECK_THROWS_WITH(repeat(x, {2, -1}), Contains("[repeat]"));
  CHECK_THROWS_WITH(stack({x, zeros({3, 2})}), "[stack] shapes must be equal; got (2, 3) and (3, 2)");
  CHECK_THROWS_WITH(stack({}), Contains("[stack]"));
  CHECK_THROWS_WITH(split(x, 0, 1), Contains("[split]"));
  CHECK_THROWS_WITH(chunk(x, 0, 1), Contains("[chunk]"));
}

TEST_CASE("indexing: indices outside are refused before anything is read", "[ops][indexing]") {
  for (const std::string& device : {std::string("reference"), std::string("cpu")}) {
    INFO(device);
    const Tensor x = zeros({2, 3}, DType::float32, device);
    const Tensor bad = from_vector<int64_t>({0, 1, 2, -1}, {4}, device);
    CHECK_THROWS_WITH(index_select(x, 0, bad), "[index_select] index 2 at position 2 of (4) is outside 0..1");
    CHECK_THROWS_WITH(index_select(x, 1, bad), "[index_select] index -1 at position 3 of (4) is outside 0..2");
    CHECK_THROWS_WITH(embedding(x, bad.reshape({2, 2})), "[embedding] index 2 at position 2 of (2, 2) is outside 0..1");
    const Tensor each = from_vector<int32_t>({0, 7}, {2, 1}, device);
    CHECK_THROWS_WITH(gather(x, 1, each), "[gather] index 7 at position 1 of (2, 1) is outside 0..2");
    CHECK_THROWS_WITH(one_hot(each, 7), "[one_hot] index 7 at position 1 of (2, 1) is outside 0..6");
    const Tensor wide = from_vector<int64_t>({int64_t{1} << 40}, {1}, device);
    CHECK_THROWS_WITH(index_select(x, 0, wide), Contains("index 1099511627776 at position 0"));
    CHECK_THROWS_WITH(index_select(x, 0, zeros({1}, DType::float32, device)),
                      "[index_select] indices must be int32 or int64; got float32");
    CHECK_THROWS_WITH(index_select(x, 0, bad.reshape({2, 2})), Contains("1 dimension"));
    CHECK_THROWS_WITH(gather(x, 1, zeros({3, 1}, DType::int32, device)), Contains("[gather]") && Contains("(3, 1)"));
    CHECK_THROWS_WITH(embedding(x[0], bad), Contains("weight must have 2 dimensions"));
    CHECK_THROWS_WITH(one_hot(each, 0), Contains("[one_hot] classes"));
    // Of no rows none can be picked.
    CHECK_THROWS_WITH(index_select(zeros({0, 3}, DType::float32, device), 0, each[0]), Contains("outside 0..-1"));
    CHECK(index_select(zeros({0, 3}, DType::float32, device), 0, zeros({0}, DType::int32, device)).numel() == 0);
  }
  CHECK_THROWS_WITH(index_select(zeros({2}), 0, zeros({1}, DType::int32, "reference")), Contains("one device"));
  const Tensor on_meta = embedding(zeros({5, 4}, DType::float32, "meta"), zeros({2, 3}, DType::int64, "meta"));
  CHECK(on_meta.shape() == Shape{2, 3, 4});
}

TEST_CASE("one_hot: classes marked", "[ops][indexing]") {
  for (const std::string& device : {std::string("reference"), std::string("cpu")}) {
    const Tensor y = one_hot(from_vector<int32_t>({1, 0, 2, 1}, {2, 2}, device), 3);
    CHECK(y.shape() == Shape{2, 2, 3});
    CHECK(y.to_vector<int64_t>() == std::vector<int64_t>{0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0});
  }
  CHECK(one_hot(zeros({0}, DType::int64), 4).shape() == Shape{0, 4});
}

}  // namespace
}  // namespace dnn::test
