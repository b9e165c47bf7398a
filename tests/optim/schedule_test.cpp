#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <kernels/error.h>
#include <libdnn/optim/schedule.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("schedule: values worked out by hand", "[schedule]") {
  const Schedule constant = constant_lr(0.1);
  CHECK(constant(0) == 0.1);
  CHECK(constant(1000000) == 0.1);

  const Schedule step = step_lr(0.001, 500, 0.1);
  CHECK(step(0) == 0.001);
  CHECK(step(499) == Approx(1e-3).epsilon(1e-12));
  CHECK(step(500) == Approx(1e-4).epsilon(1e-12));
  CHECK(step(1000) == Approx(1e-5).epsilon(1e-12));

  const Schedule linear = linear_lr(0.2, 10);
  CHECK(linear(0) == 0.2);
  CHECK(linear(5) == Approx(0.1));
  CHECK(linear(10) == 0);
  CHECK(linear(11) == 0);

  const Schedule poly = poly_lr(0.1, 0.5, 100);
  CHECK(poly(50) == Approx(0.070710678).epsilon(1e-8));
  CHECK(poly(99) == Approx(0.01).epsilon(1e-12));
  CHECK(poly(100) == 0);
  CHECK(poly(101) == 0);
  CHECK(poly(std::numeric_limits<int64_t>::max()) == 0);

  const Schedule inv = inv_lr(0.01, 1e-4, 0.75);
  CHECK(inv(0) == 0.01);
  CHECK(inv(500) == Approx(0.009640688).epsilon(1e-6));
  CHECK(inv(10000) == Approx(0.005946036).epsilon(1e-6));
}

TEST_CASE("schedule: what makes no sense is refused", "[schedule]") {
  CHECK_THROWS_WITH(step_lr(0.1, 0, 0.1), Contains("[step schedule] step_size") && Contains("got 0"));
  CHECK_THROWS_WITH(step_lr(0.1, -5, 0.1), Contains("got -5"));
  CHECK_THROWS_WITH(step_lr(0.1, 5, 0), Contains("gamma"));
  CHECK_THROWS_WITH(linear_lr(0.1, 0), Contains("total_steps"));
  CHECK_THROWS_WITH(poly_lr(0.1, 0.5, 0), Contains("total_steps"));
  CHECK_THROWS_WITH(poly_lr(0.1, -1, 10), Contains("power"));
  CHECK_THROWS_WITH(inv_lr(0.1, -1, 10), Contains("gamma"));
  CHECK_THROWS_WITH(constant_lr(-1), Contains("learning rate"));
  CHECK_THROWS_WITH(constant_lr(std::nan("")), Contains("learning rate"));
  CHECK_THROWS_WITH(constant_lr(0.1)(-1), Contains("got -1"));
  const double nan = std::nan("");
  CHECK_THROWS_WITH(step_lr(0.1, 5, nan), Contains("gamma") && Contains("got nan"));
  CHECK_THROWS_WITH(step_lr(nan, 5, 0.1), Contains("learning rate"));
  CHECK_THROWS_WITH(poly_lr(0.1, nan, 10), Contains("power"));
  CHECK_THROWS_WITH(inv_lr(0.1, nan, 1), Contains("gamma"));
  CHECK_THROWS_WITH(inv_lr(0.1, 1, nan), Contains("power"));
  CHECK_THROWS_WITH(linear_lr(0.1, -10), Contains("got -10"));
  CHECK_THROWS_WITH(linear_lr(0.1, 5)(-1), Contains("got -1"));
}

TEST_CASE("schedule: by name", "[schedule]") {
  CHECK(make_schedule({.lr = 0.5})(7) == 0.5);
  CHECK(make_schedule({.name = "step", .lr = 1, .gamma = 0.5, .step_size = 2})(4) == 0.25);
  CHECK(make_schedule({.name = "linear", .lr = 1, .total_steps = 4})(1) == 0.75);
  CHECK(make_schedule({.name = "poly", .lr = 1, .power = 2, .total_steps = 4})(2) == 0.25);
  CHECK(make_schedule({.name = "inv", .lr = 1, .gamma = 1, .power = 1})(3) == 0.25);
  CHECK_THROWS_WITH(make_schedule({.name = "step", .gamma = 0.5}), Contains("[step schedule] needs step_size"));
  CHECK_THROWS_WITH(make_schedule({.name = "step", .step_size = 3}), Contains("needs gamma"));
  CHECK_THROWS_WITH(make_schedule({.name = "cosine"}), Contains("constant, step, linear, poly, inv; got 'cosine'"));
}

}  // namespace
}  // namespace dnn
