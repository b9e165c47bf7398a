#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include <libdnn/train/trainer.h>

namespace dnn {

// Shows a training run on standard output: a bar that moves on a terminal, elsewhere a line at most every ten seconds;
// a line for each epoch on both.
class ProgressDisplay {
 public:
  ProgressDisplay(int epochs, int64_t samples_per_epoch);

  TrainerEvents events();  // valid as long as this lives

 private:
  void step(int epoch, const Evaluation& so_far, double seconds);
  void epoch(const EpochReport& report);

  int epochs_;
  int64_t samples_;
  bool terminal_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace dnn
