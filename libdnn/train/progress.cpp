#include <libdnn/train/progress.h>

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace dnn {

ProgressDisplay::ProgressDisplay(int epochs, int64_t samples_per_epoch)
    : epochs_(epochs),
      samples_(samples_per_epoch),
      terminal_(isatty(STDOUT_FILENO) != 0),
      last_(std::chrono::steady_clock::now()) {}

TrainerEvents ProgressDisplay::events() {
  return {[this](int e, const Evaluation& so_far, double seconds) { step(e, so_far, seconds); },
          [this](const EpochReport& report) { epoch(report); }};
}

void ProgressDisplay::step(int epoch, const Evaluation& so_far, double seconds) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10000))) return;
  last_ = now;
  const double done = static_cast<double>(so_far.samples) / static_cast<double>(samples_);
  std::string bar;
  if (terminal_) {
    constexpr int kWidth = 24;
    const int full = static_cast<int>(done * kWidth);
    bar = fmt::format("[{}{}] ", std::string(static_cast<size_t>(full), '='),
                      std::string(static_cast<size_t>(kWidth - full), ' '));
  }
  fmt::print("{}epoch {}/{} {}{:3.0f} %  loss {:.4f}  accuracy {:.2f} %  {:.0f} images/s{}", terminal_ ? "\r" : "",
             epoch, epochs_, bar, 100 * done, so_far.loss(), 100 * so_far.accuracy(),
             static_cast<double>(so_far.samples) / seconds, terminal_ ? "\033[K" : "\n");
  std::fflush(stdout);
}

void ProgressDisplay::epoch(const EpochReport& r) {
  fmt::print(
      "{}epoch {}/{}  loss {:.4f}  accuracy {:.2f} %  test loss {:.4f}  test accuracy {:.2f} %  {:.0f} images/s  "
      "{:.2f} s\n",
      terminal_ ? "\r\033[K" : "", r.epoch, epochs_, r.train_loss, 100 * r.train_accuracy, r.test_loss,
      100 * r.test_accuracy, r.images_per_s, r.seconds);
  std::fflush(stdout);
}

}  // namespace dnn
