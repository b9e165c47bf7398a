#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include <libdnn/train/trainer.h>

namespace dnn {

// Shows a training run: on a terminal a bar that moves and is never wider than it, elsewhere a line at most every ten
// seconds; a line for each epoch on both, in two where the terminal is narrow. Its width is read for every line, so
// that it may change; 80 columns where it is unknown.
class ProgressDisplay {
 public:
  ProgressDisplay(int epochs, int64_t samples_per_epoch, std::FILE* out = stdout);
  // The same with another time between two lines of an epoch.
  ProgressDisplay(int epochs, int64_t samples_per_epoch, std::FILE* out, std::chrono::milliseconds interval);
  ~ProgressDisplay();  // ends the line of an epoch that was not finished
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  TrainerEvents events();  // valid as long as this lives

 private:
  using Clock = std::chrono::steady_clock;

  void step(int epoch, const LazyEvaluation& so_far, double seconds);
  void epoch(const EpochReport& report);
  int columns() const;
  double seconds_left(int epoch, double done, double seconds, Clock::time_point now);

  int epochs_;
  int64_t samples_;
  std::FILE* out_;
  bool terminal_;
  bool bar_shown_ = false;
  Clock::duration interval_;
  Clock::time_point last_;
  Clock::time_point begin_{};  // of the first epoch
  int first_epoch_ = 0;        // 0: none yet
};

// "0:07", "12:34", "1:02:03", "5 d 4 h"
std::string format_duration(double seconds);

}  // namespace dnn
