#include <catch2/catch.hpp>
#include <cmath>
#include <type_traits>

#include <libdnn/core/tensor.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

static_assert(!std::is_assignable_v<Tensor, Tensor>, "x[0] = y must not compile");

TEST_CASE("tensor: shape, elements, item", "[tensor]") {
  const Tensor t = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(t.shape() == Shape{2, 3});
  CHECK(t.size(-1) == 3);
  CHECK(t.numel() == 6);
  CHECK(t.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(tensor({7}, {1}).item() == 7);
  CHECK_THROWS_WITH(t.item(), Contains("(2, 3)"));
  CHECK_THROWS_WITH(t.size(2), Contains("no dimension 2"));
  CHECK_THROWS_WITH(t.data<double>(), Contains("float32") && Contains("float64"));
  CHECK_THROWS_WITH(tensor({1, 2}, {3}), Contains("3 elements; got 2"));
  CHECK_THROWS_WITH(Tensor().shape(), Contains("before it was given a value"));
}

TEST_CASE("tensor: a size that cannot be is refused before anything is allocated", "[tensor]") {
  const int64_t before = memory_stats().system_allocations;
  CHECK_THROWS_WITH(Tensor({-1, 2}), Contains("(-1, 2)"));
  CHECK_THROWS_WITH(Tensor({1 << 30, 1 << 30, 1 << 30}), Contains("too many elements"));
  CHECK_THROWS_AS(Shape({1, 1, 1, 1, 1, 1, 1}), Error);
  CHECK(memory_stats().system_allocations == before);
}

TEST_CASE("tensor: copies share, clones don't", "[tensor]") {
  const Tensor a = tensor({1, 2}, {2});
  const Tensor shared = a, own = a.clone();
  a.copy_from(tensor({5, 2}, {2}));
  CHECK(shared.to_vector<float>()[0] == 5);
  CHECK(own.to_vector<float>()[0] == 1);
  CHECK(a.detach().data<float>() == a.data<float>());
}

TEST_CASE("tensor: devices", "[tensor]") {
  CHECK_THROWS_WITH(Device("gpu"), Contains("'gpu'") && Contains("reference"));
  const Tensor a = tensor({1, 2}, {2}, "reference");
  CHECK(a.device().name() == "reference");
  const Tensor b = a.to("cpu");
  CHECK(b.device().name() == "cpu");
  CHECK(b.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(b.to("cpu").impl() == b.impl());
  CHECK(a.device().ordinal() == 0);
  CHECK(Device("reference:0") == Device("reference"));
  CHECK_THROWS_WITH(Device("reference:1"), "[device] there is no device reference:1; reference has 1 device");
  for (const char* name : {"reference:", "reference:x", "reference:-1", "reference:1:2", ":0"}) {
    INFO(name);
    CHECK_THROWS_AS(Device(name), Error);
  }
  const Tensor m({1000, 1000, 1000}, DType::float32, "meta");
  CHECK_THROWS_WITH(m.to_vector<float>(), Contains("meta"));
  CHECK(memory_stats("meta").allocated_bytes >= 4000000000);
  const Device before = default_device();
  set_default_device("reference");
  CHECK(zeros({2}).device().name() == "reference");
  set_default_device(before);
}

TEST_CASE("full: whole numbers that the type doesn't hold are refused", "[tensor]") {
  CHECK(full({2}, -7, DType::int32).to_vector<int32_t>() == std::vector<int32_t>{-7, -7});
  CHECK_THROWS_WITH(full({2}, 1e20, DType::int32), Contains("[full] int32") && Contains("1e+20"));
  CHECK_THROWS_WITH(full({2}, std::numeric_limits<double>::quiet_NaN(), DType::int32), Contains("nan"));
  CHECK_THROWS_WITH(full({2}, 300, DType::uint8), Contains("from 0 to 255; got 300"));
  CHECK_THROWS_WITH(full({2}, -1, DType::uint8), Contains("got -1"));
}

TEST_CASE("tensor: what has no elements gives none", "[tensor]") {
  const Tensor huge({1 << 30, 1 << 20}, DType::float32, "meta"), one({1}, DType::float32, "meta"), none;
  CHECK_THROWS_WITH(huge.to_vector<float>(), "[to_vector] a tensor on meta has no values to read");
  CHECK_THROWS_WITH(huge.to_vector<double>(), Contains("[data] the tensor holds float32"));
  CHECK_THROWS_WITH(one.item(), Contains("meta has no values"));
  CHECK_THROWS_WITH(zeros({1}).copy_from(one), Contains("meta has no values"));
  CHECK_THROWS_WITH(one.to("cpu"), Contains("meta has no values"));
  const char* undefined = "before it was given a value";
  CHECK_THROWS_WITH(none.to_vector<float>(), Contains(undefined));
  CHECK_THROWS_WITH(none.item(), Contains(undefined));
  CHECK_THROWS_WITH(none.data<float>(), Contains(undefined));
  CHECK_THROWS_WITH(none.raw_data(), Contains(undefined));
  CHECK_THROWS_WITH(none.copy_from(one), Contains(undefined));
  CHECK_THROWS_WITH(zeros({1}).copy_from(none), Contains(undefined));
  CHECK_THROWS_WITH(none.set_grad(none), Contains(undefined));
  CHECK_THROWS_WITH(none.set_grad(one), Contains(undefined));
  CHECK_THROWS_WITH(none.grad(), Contains(undefined));
  CHECK_THROWS_WITH(none.clone(), Contains(undefined));
  CHECK_THROWS_WITH(none.detach(), Contains(undefined));
  CHECK_THROWS_WITH(none.move_to("cpu"), Contains(undefined));
  CHECK_THROWS_WITH(none.requires_grad(true), Contains(undefined));
  CHECK_THROWS_WITH(none.backward(), Contains(undefined));
}

TEST_CASE("tensor: a gradient is of its tensor's kind", "[tensor]") {
  const Tensor x({2}, DType::float32, "reference");
  const Tensor good({2}, DType::float32, "reference");
  x.set_grad(good);
  CHECK(x.grad().defined());
  CHECK_THROWS_WITH(x.set_grad(Tensor({3}, DType::float32, "reference")), Contains("[set_grad]") && Contains("(3)"));
  CHECK_THROWS_WITH(x.set_grad(Tensor({2}, DType::float64, "reference")),
                    Contains("float32 (2) on reference; got float64 (2) on reference"));
  CHECK_THROWS_WITH(x.set_grad(Tensor({2}, DType::float32, "cpu")), Contains("got float32 (2) on cpu"));
  x.set_grad(Tensor());
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("tensor: random numbers of no distribution are refused", "[tensor]") {
  CHECK_THROWS_WITH(rand({2}, 1, 0), "[rand] low must not be above high, and both finite; got 1 and 0");
  CHECK_THROWS_WITH(rand({2}, 0, std::nan("")), Contains("[rand]") && Contains("nan"));
  CHECK_THROWS_WITH(randn({2}, 0, -1), "[randn] needs a finite mean and a finite std from 0 on; got 0 and -1");
  CHECK_THROWS_WITH(randn({2}, std::nan(""), 1), Contains("[randn]"));
}

}  // namespace
}  // namespace dnn
