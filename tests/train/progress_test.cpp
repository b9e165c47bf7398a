#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <regex>

#include <libdnn/dnn.h>

#include "../files.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

// A terminal of so many columns, and what a program that writes to it puts on its lines.
class Terminal {
 public:
  explicit Terminal(int columns) {
    int program = -1;
    REQUIRE(openpty(&screen_, &program, nullptr, nullptr, nullptr) == 0);
    fcntl(screen_, F_SETFL, O_NONBLOCK);
    out_ = fdopen(program, "w");
    resize(columns);
  }
  ~Terminal() {
    std::fclose(out_);
    close(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::FILE* out() { return out_; }

  void resize(int columns) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 24;
    REQUIRE(ioctl(screen_, TIOCSWINSZ, &size) == 0);
  }

  // Reads what was written since; the columns that its widest line took, and the lines that stay.
  struct Written {
    size_t widest = 0;
    std::string line;                   // that the cursor is in
    std::vector<std::string> finished;  // those above
  };
  Written read() {
    Written w;
    std::string text;
    char part[4096];
    for (ssize_t got; (got = ::read(screen_, part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(got));
    size_t column = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 3, "\033[K") == 0) {
        w.line.resize(column);
        i += 2;
      } else if (text[i] == '\r') {
        column = 0;
      } else if (text[i] == '\n') {
        w.finished.push_back(w.line);
        w.line.clear();
        column = 0;
      } else {
        REQUIRE(text[i] >= ' ');
        w.line.resize(std::max(w.line.size(), column + 1));
        w.line[column++] = text[i];
        w.widest = std::max(w.widest, column);
      }
    }
    return w;
  }

 private:
  int screen_ = -1;
  std::FILE* out_ = nullptr;
};

struct Run {
  int epochs;
  int64_t samples;
  double loss;
};

Evaluation so_far(const Run& run, int64_t samples) {
  return {.loss_sum = run.loss * static_cast<double>(samples), .correct = samples, .samples = samples};
}

EpochReport report_of(const Run& run, int epoch) {
  EpochReport r;
  r.epoch = epoch;
  r.train_loss = r.test_loss = run.loss;
  r.train_accuracy = r.test_accuracy = 1;
  r.seconds = 12345.678;
  r.images_per_s = 123456;
  return r;
}

constexpr std::chrono::milliseconds kAlways{0};
const Run kRuns[] = {{2, 60000, 0.25}, {1000, 60000, 1e30}, {1000000, 1 << 30, 1e290}, {1, 1, 0}, {3, 0, 999.99999}};

TEST_CASE("progress: no line is wider than the terminal, whatever it shows", "[train]") {
  for (const int columns : {60, 80, 200}) {
    for (const Run& run : kRuns) {
      Terminal terminal(columns);
      ProgressDisplay progress(run.epochs, run.samples, terminal.out(), kAlways);
      const TrainerEvents events = progress.events();
      for (const int epoch : {1, run.epochs}) {
        for (const double part : {0.0, 0.001, 0.5, 0.999, 1.0}) {
          for (const double seconds : {0.0, 1e-6, 3.0, 1e6}) {
            events.step(epoch, so_far(run, static_cast<int64_t>(part * static_cast<double>(run.samples))), seconds);
            const Terminal::Written w = terminal.read();
            INFO(columns << " columns: " << w.line);
            CHECK(w.finished.empty());
            CHECK(w.widest < static_cast<size_t>(columns));
            CHECK_THAT(w.line, Contains(fmt::format("/{}", run.epochs)) && Contains(" %"));
            CHECK_THAT(w.line, !Contains("inf") && !Contains("nan"));
          }
        }
        events.epoch(report_of(run, epoch));
        const Terminal::Written w = terminal.read();
        INFO(columns << " columns: " << fmt::format("{}", fmt::join(w.finished, "|")));
        CHECK(w.widest < static_cast<size_t>(columns));
        CHECK(w.line.empty());
        REQUIRE_FALSE(w.finished.empty());
        CHECK_THAT(w.finished.front(), Contains(fmt::format("epoch {}/{}  train loss", epoch, run.epochs)));
        for (size_t i = 1; i < w.finished.size(); ++i) CHECK(w.finished[i].substr(0, 2) == "  ");
      }
    }
  }
}

TEST_CASE("progress: a bar that fills, and the time left in the run", "[train]") {
  const Run run{4, 1000, 0.25};
  for (const int columns : {60, 80, 200}) {
    Terminal terminal(columns);
    ProgressDisplay progress(run.epochs, run.samples, terminal.out(), kAlways);
    const TrainerEvents events = progress.events();
    size_t full = 0;
    for (const int64_t samples : {100, 500, 1000}) {
      // 100 of 4000 samples in 1 s leave 39 s. The clock goes on meanwhile, but not by a second.
      events.step(1, so_far(run, samples), static_cast<double>(samples) / 100);
      const std::string line = terminal.read().line;
      std::smatch found;
      REQUIRE(std::regex_search(line, found, std::regex(R"(^epoch 1/4  \[(=*) *\]  .* (\d):(\d\d) left$)")));
      const auto equals = static_cast<size_t>(found[1].length());
      if (samples == 100) {
        CHECK(std::stoi(found[3]) >= 39);
      } else {
        CHECK(equals > full);
      }
      full = equals;
      CHECK_THAT(line, Contains("loss 0.2500"));
      CHECK((columns < 80 || line.find("accuracy 100.00 %") != std::string::npos));
      CHECK((columns < 200 || line.find("100 images/s") != std::string::npos));
    }
    CHECK(terminal.read().line.find(' ') == std::string::npos);
  }
}

TEST_CASE("progress: the width is the terminal's of that moment", "[train]") {
  Terminal terminal(200);
  const Run run{2, 1000, 0.25};
  ProgressDisplay progress(run.epochs, run.samples, terminal.out(), kAlways);
  const TrainerEvents events = progress.events();
  const auto widest = [&](int columns) {
    terminal.resize(columns);
    events.step(1, so_far(run, 500), 1);
    return terminal.read().widest;
  };
  CHECK(widest(200) > 80);
  CHECK(widest(60) < 60);
  CHECK(widest(10) < 10);
  CHECK(widest(1) <= 1);
  const size_t unknown = widest(0);
  CHECK(unknown > 60);
  CHECK(unknown < 80);
}

TEST_CASE("progress: an epoch's line, in one of 80 columns and in two of 60", "[train]") {
  const Run run{2, 60000, 0.25};
  const auto lines = [&](int columns) {
    Terminal terminal(columns);
    ProgressDisplay progress(run.epochs, run.samples, terminal.out(), kAlways);
    EpochReport report = report_of(run, 1);
    report.train_accuracy = 0.9214;
    report.seconds = 2.37;
    progress.events().epoch(report);
    return terminal.read().finished;
  };
  using Lines = std::vector<std::string>;
  const std::string line = "epoch 1/2  train loss 0.2500, 92.14 %  test loss 0.2500, 100.00 %  2.37 s";
  CHECK(lines(80) == Lines{line});
  CHECK(lines(200) == Lines{line + "  123456 images/s"});
  CHECK(lines(60) == Lines{"epoch 1/2  train loss 0.2500, 92.14 %", "  test loss 0.2500, 100.00 %  2.37 s"});
}

TEST_CASE("progress: the line of an epoch that breaks off is ended", "[train]") {
  Terminal terminal(80);
  {
    ProgressDisplay progress(2, 1000, terminal.out(), kAlways);
    progress.events().step(1, so_far({2, 1000, 0.25}, 500), 1);
  }
  const Terminal::Written w = terminal.read();
  CHECK(w.finished.size() == 1);
  CHECK(w.line.empty());
}

TEST_CASE("progress: in a file, a line without a bar at a time", "[train]") {
  TemporaryFolder folder;
  const std::string path = folder.path("out");
  std::FILE* const file = std::fopen(path.c_str(), "w");
  {
    ProgressDisplay progress(1000, 1000, file, kAlways);
    progress.events().step(7, so_far({1000, 1000, 1e30}, 500), 1);
    progress.events().epoch(report_of({1000, 1000, 0.25}, 7));
    ProgressDisplay seldom(1000, 1000, file);
    seldom.events().step(7, so_far({1000, 1000, 0.25}, 500), 1);  // not 10 s after the start
  }
  std::fclose(file);
  std::ifstream from(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Contains("epoch    7/1000   50 %  loss 1.00e+30  accuracy 100.00 %") && Contains(" left"));
  CHECK_THAT(lines[0] + lines[1], !Contains("\r") && !Contains("\033") && !Contains("["));
  CHECK(lines[0].size() < 80);
  CHECK(lines[1] == "epoch 7/1000  train loss 0.2500, 100.00 %  test loss 0.2500, 100.00 %  12345.68 s");
}

TEST_CASE("progress: durations", "[train]") {
  CHECK(format_duration(0) == "0:00");
  CHECK(format_duration(59.4) == "0:59");
  CHECK(format_duration(59.6) == "1:00");
  CHECK(format_duration(3599) == "59:59");
  CHECK(format_duration(3723) == "1:02:03");
  CHECK(format_duration(86400 + 7200) == "1 d 2 h");
  CHECK(format_duration(1e30) == "over 100 d");
  CHECK(format_duration(-1) == "?");
}

}  // namespace
}  // namespace dnn
