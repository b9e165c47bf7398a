#include <libdnn/train/progress.h>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace dnn {
namespace {

constexpr int kUnknownColumns = 80;
constexpr int kShortestBar = 12, kLongestBar = 42;  // with its brackets
constexpr int kBarRank = 4;
constexpr const char* kGap = "  ";  // between parts of a line

// "0.2514", or "1.00e+30" where that is shorter.
std::string format_loss(double loss) {
  return std::abs(loss) < 1000 ? fmt::format("{:.4f}", loss) : fmt::format("{:.2e}", loss);
}

std::string format_percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string format_rate(double images_per_s) {
  return images_per_s < 1e7 ? fmt::format("{:.0f} images/s", images_per_s)
                            : fmt::format("{:.1e} images/s", images_per_s);
}

std::string bar(int columns, double done) {
  const int inside = columns - 2, full = static_cast<int>(done * inside);
  return fmt::format("[{}{}]", std::string(static_cast<size_t>(full), '='),
                     std::string(static_cast<size_t>(inside - full), ' '));
}

// A part of a line; of those that do not fit, the ones with the highest rank are left out.
struct Part {
  int rank;
  std::string text;
};

size_t length(const std::vector<Part>& parts) {
  size_t sum = 0;
  for (const Part& part : parts) sum += part.text.size() + 2;  // and the gap
  return sum - 2;
}

// Leaves parts out until the rest fits; the last one stays.
void drop_until_fitting(std::vector<Part>& parts, size_t columns) {
  while (parts.size() > 1 && length(parts) > columns) {
    parts.erase(
        std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.rank < b.rank; }));
  }
}

std::string join(const std::vector<Part>& parts) {
  std::string line;
  for (const Part& part : parts) line += (line.empty() ? "" : kGap) + part.text;
  return line;
}

// The parts in as few lines as have room for them, the further ones indented.
std::string wrap(const std::vector<Part>& parts, size_t columns) {
  std::string text;
  size_t used = 0;
  for (const Part& part : parts) {
    const bool breaks = used > 0 && used + 2 + part.text.size() > columns;
    if (breaks) text += '\n';
    if (used > 0) text += kGap;
    used = (breaks || used == 0 ? 0 : used) + (used > 0 ? 2 : 0) + part.text.size();
    text += part.text;
  }
  return text;
}

}  // namespace

std::string format_duration(double seconds) {
  if (!(seconds >= 0)) return "?";
  if (seconds >= 100 * 86400.0) return "over 100 d";
  const auto s = static_cast<int64_t>(std::lround(seconds));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{} d {} h", s / 86400, s / 3600 % 24);
}

ProgressDisplay::ProgressDisplay(int epochs, int64_t samples_per_epoch, std::FILE* out)
    : ProgressDisplay(epochs, samples_per_epoch, out, std::chrono::milliseconds(isatty(fileno(out)) ? 100 : 10000)) {}

ProgressDisplay::ProgressDisplay(int epochs, int64_t samples_per_epoch, std::FILE* out,
                                 std::chrono::milliseconds interval)
    : epochs_(epochs),
      samples_(samples_per_epoch),
      out_(out),
      terminal_(isatty(fileno(out)) != 0),
      interval_(interval),
      last_(Clock::now()) {}

ProgressDisplay::~ProgressDisplay() {
  if (!bar_shown_) return;
  std::fputc('\n', out_);
  std::fflush(out_);
}

TrainerEvents ProgressDisplay::events() {
  return {[this](int e, const LazyEvaluation& so_far, double seconds) { step(e, so_far, seconds); },
          [this](const EpochReport& report) { epoch(report); }};
}

// One less than there are: after a character in the last one, some terminals are on the next line already.
int ProgressDisplay::columns() const {
  winsize size{};
  const bool known = terminal_ && ioctl(fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::max((known ? size.ws_col : kUnknownColumns) - 1, 1);
}

// Of the whole run, if it goes on as it has since its first epoch; tests included, once there was one.
double ProgressDisplay::seconds_left(int epoch, double done, double seconds, Clock::time_point now) {
  if (first_epoch_ == 0) {
    first_epoch_ = epoch;
    begin_ = now - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  const double epochs_done = epoch - first_epoch_ + done, epochs_left = epochs_ - epoch + 1 - done;
  return std::chrono::duration<double>(now - begin_).count() / epochs_done * epochs_left;
}

void ProgressDisplay::step(int epoch, const LazyEvaluation& so_far, double seconds) {
  const auto now = Clock::now();
  const double done =
      std::clamp(static_cast<double>(so_far.samples) / static_cast<double>(std::max<int64_t>(samples_, 1)), 0.0, 1.0);
  const double left = seconds_left(epoch, done, seconds, now);
  if (now - last_ < interval_) return;
  last_ = now;
  const auto room = static_cast<size_t>(columns());
  std::vector<Part> parts{{0, fmt::format("epoch {:{}}/{}", epoch, std::to_string(epochs_).size(), epochs_)},
                          {1, fmt::format("{:3.0f} %", std::floor(100 * done))},
                          {3, "loss " + format_loss(so_far.loss())},
                          {5, "accuracy " + format_percent(so_far.accuracy())}};
  if (seconds > 0) parts.push_back({6, format_rate(static_cast<double>(so_far.samples) / seconds)});
  if (std::isfinite(left)) parts.push_back({2, format_duration(left) + " left"});
  if (terminal_) parts.insert(parts.begin() + 1, {kBarRank, std::string(kShortestBar, ' ')});
  drop_until_fitting(parts, room);
  if (parts.size() > 1 && parts[1].rank == kBarRank) {
    const int free = static_cast<int>(room - length(parts));
    parts[1].text = bar(std::min(kShortestBar + free, kLongestBar), done);
  }
  fmt::print(out_, "{}{}{}", terminal_ ? "\r" : "", join(parts).substr(0, room), terminal_ ? "\033[K" : "\n");
  std::fflush(out_);
  bar_shown_ = terminal_;
}

void ProgressDisplay::epoch(const EpochReport& r) {
  const auto room = static_cast<size_t>(columns());
  std::vector<Part> parts{
      {0, fmt::format("epoch {}/{}", r.epoch, epochs_)},
      {0, fmt::format("train loss {}, {}", format_loss(r.train_loss), format_percent(r.train_accuracy))},
      {0, fmt::format("test loss {}, {}", format_loss(r.test_loss), format_percent(r.test_accuracy))},
      {0, fmt::format("{:.2f} s", r.seconds)}};
  const Part rate{1, format_rate(r.images_per_s)};
  if (length(parts) + 2 + rate.text.size() <= room) parts.push_back(rate);
  fmt::print(out_, "{}{}\n", terminal_ ? "\r\033[K" : "", terminal_ ? wrap(parts, room) : join(parts));
  std::fflush(out_);
  bar_shown_ = false;
}

}  // namespace dnn
