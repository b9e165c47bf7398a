#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace dnn {

// The learning rate of an iteration, counted from 0: a function of the iteration alone, so that a run which goes on
// from a checkpoint needs no more than its number. Negative iterations throw Error.
using Schedule = std::function<double(int64_t iteration)>;

Schedule constant_lr(double lr);
Schedule step_lr(double lr, int64_t step_size, double gamma);    // lr * gamma^floor(iteration / step_size)
Schedule linear_lr(double lr, int64_t total_steps);              // lr * (1 - iteration / total_steps), then 0
Schedule poly_lr(double lr, double power, int64_t total_steps);  // lr * (1 - iteration / total_steps)^power, then 0
Schedule inv_lr(double lr, double gamma, double power);          // lr * (1 + gamma * iteration)^-power

// A schedule by its name, with the values that it needs; Error names one that is missing or makes no sense.
struct ScheduleOptions {
  std::string name = "constant";  // or step, linear, poly, inv
  double lr = 0.01;
  std::optional<double> gamma = {}, power = {};
  std::optional<int64_t> step_size = {}, total_steps = {};
};
Schedule make_schedule(const ScheduleOptions& options);

}  // namespace dnn
