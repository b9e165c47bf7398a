// AlexNet trained on pictures, with every step in sight.
//
//   alexnet                                  64 synthetic pictures in 10 classes: nothing to download
//   alexnet --data FOLDER --epochs 90        a folder of pictures for each class
//
// Prints loss, accuracy and pictures per second. --out keeps the weights; the program classify reads them.

#include <libdnn/dnn.h>

#include <chrono>
#include <cstdio>

#include "options/training.h"

namespace {

void train(const TrainingOptions& o) {
  dnn::set_default_device(o.device);
  dnn::set_num_threads(o.threads);
  dnn::manual_seed(o.seed);  // weights and dropout follow from it

  const dnn::ZooEntry& entry = dnn::zoo_entry(o.model);
  int classes = 0;
  dnn::DataLoader loader = make_loader(o, entry, classes);
  const std::shared_ptr<dnn::Module> net = entry.make(classes);
  dnn::SGD sgd(net->named_parameters(), {.lr = o.lr, .momentum = o.momentum, .weight_decay = o.weight_decay});
  const int64_t all_steps = o.steps > 0 ? o.steps : o.epochs * loader.batches();
  const dnn::Schedule lr = dnn::linear_lr(o.lr, all_steps);  // falls to 0 over the run
  std::printf("%s: %s in %s, %s of %d\n", o.model.c_str(), dnn::counted(loader.samples(), "picture").c_str(),
              dnn::counted(classes, "class", "classes").c_str(), dnn::counted(all_steps, "step").c_str(), o.batch);

  for (int epoch = 0; sgd.step_count() < all_steps; ++epoch) {
    dnn::Evaluation sums;  // over the pictures of the epoch
    dnn::Batch batch;
    loader.start_epoch(epoch);
    const auto start = std::chrono::steady_clock::now();
    while (sgd.step_count() < all_steps && loader.next(batch)) {
      sgd.set_lr(lr(sgd.step_count()));
      sgd.zero_grad();
      const dnn::Tensor scores = (*net)(batch.images);                    // (N, classes)
      const dnn::Tensor loss = dnn::cross_entropy(scores, batch.labels);  // the mean over the batch
      check_finite(loss.item(), *net, batch.images, sgd.step_count() + 1);
      loss.backward();  // gradients of all parameters
      sgd.step();       // moves them
      sums.add(loss.item(), dnn::count_correct(scores, batch.labels), batch.labels.numel());
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("epoch %d  step %lld  loss %.4f  training accuracy %.1f %%  %.1f images/s\n", epoch + 1,
                static_cast<long long>(sgd.step_count()), sums.loss(), 100 * sums.accuracy(),
                static_cast<double>(sums.samples) / seconds.count());
    std::fflush(stdout);
  }
  if (!o.out.empty()) dnn::save_weights(*net, o.out);
}

}  // namespace

int main(int argc, char** argv) {
  TrainingOptions o{.model = "caffe_alexnet", .epochs = 30, .lr = 0.001};
  read_training_options("Trains AlexNet on a folder of pictures, or on synthetic ones.", {"caffe_alexnet", "alexnet"},
                        "alexnet", argc, argv, o);
  try {
    train(o);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "alexnet: %s\n", error.what());
    return 1;
  }
}
