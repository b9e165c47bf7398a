// AlexNet trained on pictures, with every step in sight.
//
//   alexnet                                  64 synthetic pictures in 10 classes: nothing to download
//   alexnet --data FOLDER --epochs 90        a folder of pictures for each class
//
// Prints loss, accuracy and pictures per second. --out keeps the weights; the program classify reads them.

#include <libdnn/dnn.h>

#include <chrono>
#include <cstdio>

#include "options/command_line.h"

namespace {

struct Options {
  std::string model = "caffe_alexnet", data, out, device = "cpu";
  int synthetic = 64, batch = 8, epochs = 10, steps = 0, size = 0, threads = dnn::num_threads();
  double lr = 0.005, momentum = 0.9, weight_decay = 5e-4;
};

// Both kinds of pictures come in the size and the colours that the net is made for, those in folders as parts that are
// cut out and mirrored at random.
dnn::DataLoader make_loader(const Options& o, const dnn::ZooEntry& entry, int& classes) {
  const dnn::DataLoaderOptions order{.batch_size = o.batch, .shuffle = true, .seed = 1};
  dnn::ImageFolderOptions options{.preprocessing = entry.preprocessing, .augmentation = dnn::Augmentation{}};
  const int size = o.size > 0 ? o.size : entry.height;
  options.preprocessing.crop_height = options.preprocessing.crop_width = options.preprocessing.resize = size;
  if (o.data.empty()) {
    classes = 10;
    const dnn::ImageDataset pictures = dnn::synthetic_pictures(o.synthetic, classes, size, size);
    return {std::make_shared<dnn::ImageMemory>(pictures, options.preprocessing), order};
  }
  const auto pictures = std::make_shared<dnn::ImageFolder>(o.data, options);
  classes = pictures->files().classes;
  return {pictures, order};
}

void train(const Options& o) {
  dnn::set_default_device(o.device);
  dnn::set_num_threads(o.threads);
  dnn::manual_seed(1);  // weights and dropout follow from it

  const dnn::ZooEntry& entry = dnn::zoo_entry(o.model);
  int classes = 0;
  dnn::DataLoader loader = make_loader(o, entry, classes);
  const std::shared_ptr<dnn::Module> net = entry.make(classes);
  dnn::SGD sgd(net->named_parameters(), {.lr = o.lr, .momentum = o.momentum, .weight_decay = o.weight_decay});
  const int64_t all_steps = o.steps > 0 ? o.steps : o.epochs * loader.batches();
  const dnn::Schedule lr = dnn::linear_lr(o.lr, all_steps);  // falls to 0 over the run
  std::printf("%s: %lld pictures in %d classes, %lld steps of %d\n", o.model.c_str(),
              static_cast<long long>(loader.samples()), classes, static_cast<long long>(all_steps), o.batch);

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
      loss.backward();                                                    // gradients of all parameters
      sgd.step();                                                         // moves them
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
  Options o;
  CommandLine line("Trains AlexNet on a folder of pictures, or on synthetic ones.");
  line.add("--model", o.model, "Caffe's or torchvision's", {"caffe_alexnet", "alexnet"});
  line.add_path("--data", o.data, "a folder with a folder of pictures for each class");
  line.add("--synthetic", o.synthetic, "how many pictures to make up, without --data");
  line.add("--batch", o.batch, "pictures in a step");
  line.add("--epochs", o.epochs, "passes over the pictures");
  line.add("--steps", o.steps, "steps, instead of --epochs");
  line.add("--lr", o.lr, "learning rate of the first step");
  line.add("--momentum", o.momentum, "of SGD");
  line.add("--weight-decay", o.weight_decay, "added to the gradient, times the weight");
  line.add("--size", o.size, "pixels of a picture's side [the net's; alexnet takes others]");
  line.add("--threads", o.threads, "threads to compute with");
  line.add("--device", o.device, "where to compute");
  line.add("--out", o.out, "file for the weights, .safetensors");
  line.parse(argc, argv);
  try {
    train(o);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "alexnet: %s\n", error.what());
    return 1;
  }
}
