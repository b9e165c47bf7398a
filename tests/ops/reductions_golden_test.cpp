#include <map>
#include <nlohmann/json.hpp>

#include "../models/golden.h"
#include "ops_test.h"

#include <libdnn/ops/ops.h>

// Reductions, comparisons and the like against PyTorch's numbers: tests/data/reductions.py.
namespace dnn::test {
namespace {

using nlohmann::json;

Tensor operand(const Shape& shape, int number, const std::string& kind, DType dtype, const std::string& row) {
  std::vector<double> values(static_cast<size_t>(shape.numel()));
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    values[i] = ((7 * i + 3 * number) % 11 - 5) / 4.0;
    if (kind == "positive") values[i] = std::abs(values[i]) + 0.25;
    if (kind == "distinct") values[i] = (37 * i % 101 - 50) / 4.0;
  }
  if (dtype == DType::float64) return from_vector(values, shape, row).requires_grad(true);
  return from_vector(std::vector<float>(values.begin(), values.end()), shape, row).requires_grad(true);
}

Tensor upstream(const Tensor& y, int result) {
  std::vector<double> values(static_cast<size_t>(y.numel()));
  for (int i = 0; i < static_cast<int>(values.size()); ++i) values[i] = ((i + result) % 5 - 2) / 2.0;
  if (y.dtype() == DType::float64) return from_vector(values, y.shape(), y.device());
  return from_vector(std::vector<float>(values.begin(), values.end()), y.shape(), y.device());
}

std::vector<double> numbers(const Tensor& t) {
  return with_type(t.dtype(), [&]<class T>(T) {
    std::vector<double> values;
    for (const auto value : t.to_vector<T>()) values.push_back(static_cast<double>(value));
    return values;
  });
}

bool is_near(double value, const json& expected, double tolerance) {
  if (expected.is_null()) return std::isnan(value);
  if (expected.is_string()) return value == std::stod(expected.get<std::string>());
  const double number = expected.get<double>();
  return std::abs(value - number) <= tolerance * std::max(1.0, std::abs(number));
}

void check_numbers(const std::vector<double>& values, const json& expected, double tolerance) {
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_near(values[i], expected[i], tolerance)) continue;
    FAIL("element " << i << " of " << values.size() << ": " << values[i] << " instead of " << expected[i]);
  }
  SUCCEED();
}

using Run = std::function<TensorList(const json&, const TensorList&)>;

template <class F>
Run over_dims(F f) {
  return [f](const json& e, const TensorList& in) -> TensorList {
    return {f(in[0], e["dims"].get<std::vector<int>>(), e["keep"].get<bool>())};
  };
}

template <class F>
Run of_pair(F f) {
  return [f](const json&, const TensorList& in) -> TensorList { return {f(in[0], in[1])}; };
}

template <class F>
Run along(F f) {
  return [f](const json& e, const TensorList& in) -> TensorList {
    return {f(in[0], e["dim"].get<int>(), e["keep"].get<bool>())};
  };
}

const std::map<std::string, Run>& runs() {
  using Two = Tensor (*)(const Tensor&, const Tensor&);
  using Along = ValuesAndIndices (*)(const Tensor&, int, bool);
  static const std::map<std::string, Run> table{
      {"sum", over_dims(sum)},
      {"mean", over_dims(mean)},
      {"prod", over_dims(prod)},
      {"amax", over_dims(amax)},
      {"amin", over_dims(amin)},
      {"all", over_dims(all)},
      {"any", over_dims(any)},
      {"var",
       [](const json& e, const TensorList& in) -> TensorList {
         return {var(in[0], e["dims"].get<std::vector<int>>(), e["correction"], e["keep"])};
       }},
      {"std",
       [](const json& e, const TensorList& in) -> TensorList {
         return {dnn::std(in[0], e["dims"].get<std::vector<int>>(), e["correction"], e["keep"])};
       }},
      {"var_mean",
       [](const json& e, const TensorList& in) -> TensorList {
         const auto [var, mean] = var_mean(in[0], e["dims"].get<std::vector<int>>(), e["correction"], e["keep"]);
         return {var, mean};
       }},
      {"cumsum", [](const json& e, const TensorList& in) -> TensorList { return {cumsum(in[0], e["dim"])}; }},
      {"topk",
       [](const json& e, const TensorList& in) -> TensorList {
         const auto [values, indices] = topk(in[0], e["k"], e["dim"], e["largest"]);
         return {values, indices};
       }},
      {"max",
       [](const json& e, const TensorList& in) -> TensorList {
         const auto [values, indices] = static_cast<Along>(max)(in[0], e["dim"], e["keep"]);
         return {values, indices};
       }},
      {"min",
       [](const json& e, const TensorList& in) -> TensorList {
         const auto [values, indices] = static_cast<Along>(min)(in[0], e["dim"], e["keep"]);
         return {values, indices};
       }},
      {"argmax", along(argmax)},
      {"argmin", along(argmin)},
      {"eq", of_pair(static_cast<Two>(eq))},
      {"ne", of_pair(static_cast<Two>(ne))},
      {"lt", of_pair(static_cast<Two>(lt))},
      {"le", of_pair(static_cast<Two>(le))},
      {"gt", of_pair(static_cast<Two>(gt))},
      {"ge", of_pair(static_cast<Two>(ge))},
      {"logical_and", of_pair(logical_and)},
      {"logical_or", of_pair(logical_or)},
      {"logical_xor", of_pair(logical_xor)},
      {"maximum", of_pair(static_cast<Two>(maximum))},
      {"minimum", of_pair(static_cast<Two>(minimum))},
      {"pow", of_pair(static_cast<Two>(pow))},
      {"where", [](const json&, const TensorList& in) -> TensorList { return {where(gt(in[0], 0), in[1], in[2])}; }}};
  return table;
}

void check(const json& golden, DType dtype, const std::string& row, double tolerance) {
  INFO(row << ": " << golden.dump());
  TensorList in;
  for (const json& shape : golden["shapes"]) {
    in.push_back(
        operand(Shape(shape.get<std::vector<int>>()), static_cast<int>(in.size()), golden["kind"], dtype, row));
  }
  const TensorList results = runs().at(golden["op"])(golden, in);
  REQUIRE(results.size() == golden["results"].size());
  TensorList recorded, upstreams;
  for (size_t r = 0; r < results.size(); ++r) {
    CHECK(results[r].shape() == Shape(golden["results"][r]["shape"].get<std::vector<int>>()));
    check_numbers(numbers(results[r]), golden["results"][r]["values"], tolerance);
    if (!results[r].requires_grad()) continue;
    recorded.push_back(results[r]);
    upstreams.push_back(upstream(results[r], static_cast<int>(r)));
  }
  CHECK(recorded.empty() != golden.contains("gradients"));
  if (recorded.empty()) return;
  backward(recorded, upstreams);
  for (size_t i = 0; i < in.size(); ++i) {
    INFO("gradient " << i);
    const Tensor grad = in[i].grad();
    check_numbers(grad.defined() ? numbers(grad) : std::vector<double>(static_cast<size_t>(in[i].numel())),
                  golden["gradients"][i], tolerance);
  }
}

TEST_CASE("reductions and comparisons: PyTorch's results and gradients", "[ops]") {
  for (const json& golden : load_golden("reductions.json")) {
    check(golden, DType::float64, "reference", 1e-9);
    for (const std::string& row : float_rows()) check(golden, DType::float32, row, 2e-5);
  }
}

}  // namespace
}  // namespace dnn::test
