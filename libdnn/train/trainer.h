#pragma once
#include <functional>
#include <string>
#include <vector>

#include <libdnn/core/random.h>
#include <libdnn/formats/safetensors.h>
#include <libdnn/optim/schedule.h>
#include <libdnn/optim/sgd.h>
#include <libdnn/train/evaluate.h>

namespace dnn {

class BatchTotals;

struct EpochReport {
  int epoch = 0;              // from 1
  int64_t iterations = 0;     // steps since the start of training
  double lr = 0;              // of the last step
  double train_loss = 0;      // mean over the samples of what is minimized: auxiliary heads included
  double train_accuracy = 0;  // of the main head, as the following two
  double test_loss = 0, test_accuracy = 0;
  double seconds = 0;  // of training, without the test
  double images_per_s = 0;
};

// Called during training; what is not set is skipped.
struct TrainerEvents {
  // so_far converts to an Evaluation. Who reads its numbers waits for the device, so better now and then.
  std::function<void(int epoch, const LazyEvaluation& so_far, double seconds)> step = {};
  std::function<void(const EpochReport&)> epoch = {};
};

struct TrainerOptions {
  int epochs = 1;
  SGD::Options sgd = {};   // sgd.lr serves where there is no schedule
  Schedule schedule = {};  // learning rate of each step
  std::string out =
      {};  // folder of the run: log.csv and weights.safetensors after each epoch; empty: nothing is written
  Metadata metadata = {};  // put into the weights
  TrainerEvents events = {};
  std::function<bool()> should_stop = {};  // asked after each step; the run ends with what it has
};

// Trains a classifier with cross entropy and SGD, all heads of the net weighted as it says (head_losses). A net in
// training mode keeps the modes of its modules, so that a batch norm in eval() stays frozen; one in eval() mode is set
// to train(). The log and the weights of an epoch appear whole or not at all. A loss that is not finite ends training
// with an Error that says in which step and layer it arose, when its numbers are read; no weight changes after that
// step. So do parameters or buffers that are not finite at the end of an epoch; what was written before stays.
class Trainer {
 public:
  Trainer(Module& net, DataLoader& train, DataLoader& test, TrainerOptions options);

  struct Report {
    std::vector<EpochReport> epochs;
    bool stopped = false;  // by should_stop
  };
  Report run();

 private:
  void train_step(const Batch& batch, int epoch, BatchTotals& totals);
  const Evaluation& read(BatchTotals& totals, int epoch, const Batch& last);
  EpochReport run_epoch(int epoch);
  bool stop_wanted() const { return options_.should_stop && options_.should_stop(); }
  void write(const std::vector<EpochReport>& epochs);

  Module& net_;
  DataLoader& train_;
  DataLoader& test_;
  TrainerOptions options_;
  SGD sgd_;
  int64_t first_step_ = 1;                // of the epoch
  std::vector<RandomState> step_random_;  // of the epoch's steps, before each
};

}  // namespace dnn
