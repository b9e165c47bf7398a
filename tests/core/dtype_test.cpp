#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include <libdnn/core/tensor.h>
#include <libdnn/ops/activation.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

constexpr DType kAll[] = {DType::float32, DType::float64,  DType::int32, DType::uint8,
                          DType::float16, DType::bfloat16, DType::int64, DType::boolean};

TEST_CASE("dtype: sizes, names, and the way from a C++ type", "[dtype]") {
  for (const DType dtype : kAll) {
    INFO(name_of(dtype));
    with_type(dtype, [&]<class T>(T) {
      CHECK(dtype_of<T>() == dtype);
      CHECK(size_of(dtype) == sizeof(T));
      CHECK(zeros({3}, dtype).to_vector<T>() == std::vector<T>(3, T(0.0f)));
      CHECK(ones({3}, dtype).to_vector<T>() == std::vector<T>(3, T(1.0f)));
      CHECK(ones({}, dtype).item() == 1);
      CHECK(ones({2}, dtype, "reference").to("cpu").to_vector<T>() == std::vector<T>(2, T(1.0f)));
    });
    CHECK(memory_stats("meta").allocated_bytes == 0);
    const Tensor shapes_only = zeros({5, 0, 2}, dtype, "meta");
    CHECK(shapes_only.dtype() == dtype);
  }
  CHECK(std::string(name_of(DType::boolean)) == "bool");
  CHECK(std::string(name_of(DType::bfloat16)) == "bfloat16");
}

TEST_CASE("dtype: elements in and out", "[dtype]") {
  const std::vector<bool> truth{true, false, true};
  const Tensor mask = from_vector(truth, {3});
  CHECK(mask.dtype() == DType::boolean);
  CHECK(mask.to_vector<bool>() == truth);
  CHECK(mask.data<bool>() != nullptr);
  CHECK_THROWS_WITH(mask.to_vector<uint8_t>(), Contains("holds bool") && Contains("uint8"));

  const int64_t large = int64_t{1} << 60;
  CHECK(from_vector<int64_t>({large, -large}, {2}).to_vector<int64_t>() == std::vector<int64_t>{large, -large});
  const Tensor half = from_vector<Float16>({0.1f, -2.0f}, {2});
  CHECK(half.to_vector<Float16>()[1] == -2);
  CHECK(from_vector<BFloat16>({0.1f}, {}).item() == 0.10009765625);
  CHECK(from_vector<Float16>({0.1f}, {}).item() == 0.0999755859375);
  CHECK(from_vector<int64_t>({-3}, {1}).item() == -3);

  const float array[] = {1, 2, 3, 4, 5, 6};
  CHECK(from_blob(array, {2, 3}).to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
  const uint16_t bits[] = {0x3c00, 0xc000};
  CHECK(from_blob(bits, {2}, DType::float16).to_vector<Float16>()[1] == -2);
  CHECK(from_blob(static_cast<const int64_t*>(nullptr), {0}).dtype() == DType::int64);
}

TEST_CASE("dtype: full refuses what the type can't hold", "[dtype]") {
  CHECK(full({1}, -3, DType::int64).item() == -3);
  CHECK(full({1}, 0.5, DType::boolean).item() == 1);
  CHECK(full({1}, -0x1p63, DType::int64).to_vector<int64_t>()[0] == std::numeric_limits<int64_t>::min());
  CHECK_THROWS_WITH(full({1}, 0x1p63, DType::int64), Contains("[full] int64 holds") && Contains("9223372036854775807"));
  CHECK_THROWS_WITH(full({1}, 65520, DType::float16), "[full] float16 holds numbers from -65504 to 65504; got 65520");
  CHECK(full({1}, 65519, DType::float16).item() == 65504);
  CHECK(std::isinf(full({1}, std::numeric_limits<double>::infinity(), DType::float16).item()));
  CHECK(std::isnan(full({1}, std::numeric_limits<double>::quiet_NaN(), DType::bfloat16).item()));
}

TEST_CASE("dtype: what only stores does not compute", "[dtype]") {
  CHECK_THROWS_WITH(relu(zeros({2}, DType::int64)), "[relu] computes float32 (float64 on reference); got int64");
  CHECK_THROWS_WITH(relu(zeros({2}, DType::boolean)), Contains("[relu]") && Contains("got bool"));
  CHECK_THROWS_WITH(relu(zeros({2}, DType::float16)), Contains("got float16"));
  CHECK_THROWS_WITH(zeros({2}, DType::int64).requires_grad(true), Contains("only float tensors") && Contains("int64"));
  CHECK(zeros({2}, DType::bfloat16).requires_grad(true).requires_grad());
}

}  // namespace
}  // namespace dnn
