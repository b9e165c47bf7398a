#include <libdnn/train/trainer.h>

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include <libdnn/formats/weights.h>
#include <libdnn/layers/head_losses.h>
#include <libdnn/train/batch_totals.h>
#include <libdnn/train/non_finite.h>
#include <libdnn/train/run_log.h>

namespace dnn {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Trainer::Trainer(Module& net, DataLoader& train, DataLoader& test, TrainerOptions options)
    : net_(net), train_(train), test_(test), options_(std::move(options)), sgd_(net.named_parameters(), options_.sgd) {
  if (options_.epochs < 1) throw Error(fmt::format("[trainer] epochs must be at least 1; got {}", options_.epochs));
  if (!options_.schedule) options_.schedule = constant_lr(options_.sgd.lr);
  if (!options_.out.empty()) prepare_run_folder(options_.out);
}

void Trainer::train_step(const Batch& batch, int epoch, BatchTotals& totals) {
  step_random_.push_back(random_state());
  sgd_.set_lr(options_.schedule(sgd_.step_count()));
  sgd_.zero_grad();
  const HeadLosses losses = head_losses(net_, batch.images, batch.labels);
  totals.add(sgd_.step_count() + 1, losses.total, losses.scores, batch.labels);
  if (totals.known_at_once()) read(totals, epoch, batch);
  losses.total.backward();
  sgd_.step();
}

// Since the step whose loss is not finite, no weight has changed; its batch and random numbers are had once more.
const Evaluation& Trainer::read(BatchTotals& totals, int epoch, const Batch& last) {
  const DeviceStatus fault = totals.fault();
  if (fault.step == 0) return totals.read();
  const auto number = static_cast<size_t>(fault.step - first_step_);
  Batch batch = last;
  if (number + 1 < step_random_.size() || !batch.images.defined()) {
    train_.start_epoch(epoch - 1);
    for (size_t i = 0; i <= number; ++i) train_.next(batch);
  }
  set_random_state(step_random_[number]);
  throw Error(fmt::format("[train] the loss is {} in step {}; {}",
                          std::isnan(fault.loss) ? std::abs(fault.loss) : fault.loss, fault.step,
                          describe_non_finite(net_, batch.images)));
}

EpochReport Trainer::run_epoch(int epoch) {
  if (!net_.training()) net_.train();
  std::optional<BatchTotals> totals;
  Batch batch;
  train_.start_epoch(epoch - 1);
  first_step_ = sgd_.step_count() + 1;
  step_random_.clear();
  const auto start = std::chrono::steady_clock::now();
  while (train_.next(batch)) {
    if (!totals) totals.emplace(batch.images.device());
    train_step(batch, epoch, *totals);
    if (options_.events.step) {
      options_.events.step(epoch, {totals->samples(), [&] { return read(*totals, epoch, batch); }},
                           seconds_since(start));
    }
    if (stop_wanted()) break;
  }
  if (!totals) {
    throw Error("[train] the training set gives no batch: it is empty, or smaller than one batch with drop_last");
  }
  const Evaluation sums = read(*totals, epoch, batch);
  totals.reset();
  // A finite loss doesn't show what the last step, or a batch norm's running variance, has become.
  if (const std::string name = first_non_finite(net_); !name.empty()) {
    throw Error(
        fmt::format("[train] {} has values that are not finite after step {}; the weights of epoch {} are not "
                    "written",
                    name, sgd_.step_count(), epoch));
  }
  EpochReport report;
  report.epoch = epoch;
  report.iterations = sgd_.step_count();
  report.lr = sgd_.lr();
  report.train_loss = sums.loss();
  report.train_accuracy = sums.accuracy();
  report.seconds = seconds_since(start);
  report.images_per_s = static_cast<double>(sums.samples) / report.seconds;
  const Evaluation test = evaluate(net_, test_);
  report.test_loss = test.loss();
  report.test_accuracy = test.accuracy();
  return report;
}

Trainer::Report Trainer::run() {
  Report report;
  for (int epoch = 1; epoch <= options_.epochs && !report.stopped; ++epoch) {
    report.epochs.push_back(run_epoch(epoch));
    report.stopped = stop_wanted();
    if (!options_.out.empty()) write(report.epochs);
    if (options_.events.epoch) options_.events.epoch(report.epochs.back());
  }
  return report;
}

void Trainer::write(const std::vector<EpochReport>& epochs) {
  const std::filesystem::path folder = options_.out;
  Metadata metadata = options_.metadata;
  metadata["epoch"] = std::to_string(epochs.back().epoch);
  metadata["iterations"] = std::to_string(epochs.back().iterations);
  metadata["test_accuracy"] = fmt::format("{:.6f}", epochs.back().test_accuracy);
  save_weights(net_, (folder / "weights.safetensors").string(), metadata);
  write_log((folder / "log.csv").string(), epochs);
}

}  // namespace dnn
