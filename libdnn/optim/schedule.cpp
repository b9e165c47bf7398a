#include <libdnn/optim/schedule.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <kernels/error.h>

namespace dnn {
namespace {

template <class T>
void require(bool ok, const char* schedule, const char* what, T got) {
  if (!ok) throw Error(fmt::format("[{} schedule] {}; got {}", schedule, what, got));
}

void check_lr(const char* schedule, double lr) {
  require(lr >= 0 && std::isfinite(lr), schedule, "the learning rate is a number from 0 on", lr);
}

void check_steps(const char* schedule, const char* what, int64_t steps) { require(steps > 0, schedule, what, steps); }

double checked(int64_t iteration) {
  if (iteration < 0) throw Error(fmt::format("[schedule] iterations count from 0; got {}", iteration));
  return static_cast<double>(iteration);
}

// The share of the run that is left: 1 at its start, 0 at its end and beyond.
double share_left(int64_t iteration, int64_t total_steps) {
  return std::max(0.0, 1 - checked(iteration) / static_cast<double>(total_steps));
}

template <class T>
T needed(const std::optional<T>& value, const std::string& schedule, const char* name) {
  if (!value) throw Error(fmt::format("[{} schedule] needs {}; got none", schedule, name));
  return *value;
}

}  // namespace

Schedule constant_lr(double lr) {
  check_lr("constant", lr);
  return [lr](int64_t iteration) { return checked(iteration), lr; };
}

Schedule step_lr(double lr, int64_t step_size, double gamma) {
  check_lr("step", lr);
  check_steps("step", "step_size is at least 1", step_size);
  require(gamma > 0 && std::isfinite(gamma), "step", "gamma is a number above 0", gamma);
  return [=](int64_t iteration) {
    checked(iteration);
    return lr * std::pow(gamma, static_cast<double>(iteration / step_size));
  };
}

Schedule linear_lr(double lr, int64_t total_steps) {
  check_lr("linear", lr);
  check_steps("linear", "total_steps is at least 1", total_steps);
  return [=](int64_t iteration) { return lr * share_left(iteration, total_steps); };
}

Schedule poly_lr(double lr, double power, int64_t total_steps) {
  check_lr("poly", lr);
  check_steps("poly", "total_steps is at least 1", total_steps);
  require(power > 0 && std::isfinite(power), "poly", "power is a number above 0", power);
  return [=](int64_t iteration) { return lr * std::pow(share_left(iteration, total_steps), power); };
}

Schedule inv_lr(double lr, double gamma, double power) {
  check_lr("inv", lr);
  require(gamma >= 0 && std::isfinite(gamma), "inv", "gamma is a number from 0 on", gamma);
  require(std::isfinite(power), "inv", "power is a number", power);
  return [=](int64_t iteration) { return lr * std::pow(1 + gamma * checked(iteration), -power); };
}

Schedule make_schedule(const ScheduleOptions& o) {
  if (o.name == "constant") return constant_lr(o.lr);
  if (o.name == "step") {
    return step_lr(o.lr, needed(o.step_size, o.name, "step_size"), needed(o.gamma, o.name, "gamma"));
  }
  if (o.name == "linear") return linear_lr(o.lr, needed(o.total_steps, o.name, "total_steps"));
  if (o.name == "poly") {
    return poly_lr(o.lr, needed(o.power, o.name, "power"), needed(o.total_steps, o.name, "total_steps"));
  }
  if (o.name == "inv") return inv_lr(o.lr, needed(o.gamma, o.name, "gamma"), needed(o.power, o.name, "power"));
  throw Error(fmt::format("[schedule] there is constant, step, linear, poly, inv; got '{}'", o.name));
}

}  // namespace dnn
