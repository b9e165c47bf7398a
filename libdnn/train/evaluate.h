#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <libdnn/data/data_loader.h>
#include <libdnn/layers/module.h>

namespace dnn {

// Sums over samples, so that a short batch counts with its own size.
struct Evaluation {
  double loss_sum = 0;
  int64_t correct = 0;
  int64_t samples = 0;

  void add(double mean_loss, int64_t batch_correct, int64_t batch_samples);
  double loss() const { return samples > 0 ? loss_sum / static_cast<double>(samples) : 0; }
  double accuracy() const { return samples > 0 ? static_cast<double>(correct) / static_cast<double>(samples) : 0; }
};

// One that grows on a device, as it is during the call that hands it out. Its numbers are read when they are asked for,
// which waits for the device.
class LazyEvaluation {
 public:
  LazyEvaluation(const Evaluation& known) : samples(known.samples), read_([known] { return known; }) {}
  LazyEvaluation(int64_t count, std::function<Evaluation()> read) : samples(count), read_(std::move(read)) {}

  const int64_t samples;  // known without reading

  double loss() const { return get().loss(); }
  double accuracy() const { return get().accuracy(); }
  const Evaluation& get() const {
    if (!known_) known_ = read_();
    return *known_;
  }
  operator const Evaluation&() const { return get(); }

 private:
  std::function<Evaluation()> read_;
  mutable std::optional<Evaluation> known_;
};

// How many rows of the scores (N, classes) have their largest value at the label; among equal ones the first counts.
int64_t count_correct(const Tensor& scores, const Tensor& labels);

// Mean cross entropy and accuracy over the whole set, in eval mode; afterwards each module of the net has its own mode
// back. A loss that is not finite, of a diverged net or damaged data, is an Error with the batch, its samples and the
// place where such values first arise; so is a loader without a batch.
Evaluation evaluate(Module& net, DataLoader& loader);

}  // namespace dnn
