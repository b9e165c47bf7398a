// GoogLeNet trained on pictures, with its three classifiers and every step in sight.
//
//   googlenet                                64 synthetic pictures in 10 classes: nothing to download
//   googlenet --data FOLDER --epochs 90      a folder of pictures for each class
//
// While it is trained the net has two more classifiers on the way, so that its early layers get gradients soon. What is
// minimised is the weighted sum of the three losses: main + 0.3 aux2 + 0.3 aux1. --out keeps the weights; the program
// classify reads them.

#include <libdnn/dnn.h>

#include <chrono>
#include <cstdio>

#include "options/training.h"

namespace {

// "loss 1 * main 2.31 + 0.3 * auxiliary 2.30 + 0.3 * auxiliary 2.29 = 3.69"
void print_losses(const std::vector<double>& weights, const std::vector<double>& losses) {
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    total += weights[i] * losses[i];
    std::printf("%s %g * %s %.4f", i > 0 ? " +" : "loss", weights[i], i > 0 ? "auxiliary" : "main", losses[i]);
  }
  std::printf(" = %.4f", total);
}

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
  const dnn::Schedule lr = dnn::poly_lr(o.lr, 0.5, all_steps);  // falls to 0 over the run
  std::printf("%s: %s in %s, %s of %d\n", o.model.c_str(), dnn::counted(loader.samples(), "picture").c_str(),
              dnn::counted(classes, "class", "classes").c_str(), dnn::counted(all_steps, "step").c_str(), o.batch);

  const std::vector<double> weights = net->head_weights();
  for (int epoch = 0; sgd.step_count() < all_steps; ++epoch) {
    std::vector<double> losses(weights.size());  // of each classifier, in the end the mean over the epoch's pictures
    double correct = 0, samples = 0;
    dnn::Batch batch;
    loader.start_epoch(epoch);
    const auto start = std::chrono::steady_clock::now();
    while (sgd.step_count() < all_steps && loader.next(batch)) {
      sgd.set_lr(lr(sgd.step_count()));
      sgd.zero_grad();
      // The scores of each classifier go through cross entropy; `total` is the weighted sum of the losses.
      const dnn::HeadLosses heads = dnn::head_losses(*net, batch.images, batch.labels);
      check_finite(heads.total.item(), *net, batch.images, sgd.step_count() + 1);
      heads.total.backward();  // one backward pass for all three
      sgd.step();
      for (size_t i = 0; i < losses.size(); ++i) losses[i] += heads.losses[i].item() * batch.images.size(0);
      correct += static_cast<double>(dnn::count_correct(heads.scores, batch.labels));
      samples += batch.images.size(0);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    for (double& loss : losses) loss /= samples;
    std::printf("epoch %d  step %lld  ", epoch + 1, static_cast<long long>(sgd.step_count()));
    print_losses(weights, losses);
    std::printf("  training accuracy %.1f %%  %.1f images/s\n", 100 * correct / samples, samples / seconds.count());
    std::fflush(stdout);
  }
  if (!o.out.empty()) dnn::save_weights(*net, o.out);
}

}  // namespace

int main(int argc, char** argv) {
  TrainingOptions o{.model = "googlenet"};
  read_training_options("Trains GoogLeNet on a folder of pictures, or on synthetic ones.",
                        {"googlenet", "caffe_googlenet"}, "googlenet", argc, argv, o);
  // Caffe's has no batch norms, and learns at a lower rate.
  const bool norms = o.model == "googlenet";
  if (o.lr == 0) o.lr = norms ? 0.01 : 0.002;
  if (o.epochs == 0) o.epochs = norms ? 8 : 37;
  try {
    train(o);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "googlenet: %s\n", error.what());
    return 1;
  }
}
