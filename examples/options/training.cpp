#include "training.h"

#include <cmath>
#include <iostream>

#include "command_line.h"

void read_training_options(const std::string& description, const std::vector<std::string>& models,
                           const std::string& any_size, int argc, char** argv, TrainingOptions& o) {
  CommandLine line(description);
  line.add("--model", o.model, "Caffe's or torchvision's", models);
  line.add_path("--data", o.data, "a folder with a folder of pictures for each class");
  line.add("--synthetic", o.synthetic, "how many pictures to make up, without --data");
  line.add("--batch", o.batch, "pictures in a step");
  line.add("--epochs", o.epochs, o.epochs > 0 ? "passes over the pictures" : "passes over the pictures [the model's]");
  line.add("--steps", o.steps, "steps, instead of --epochs");
  line.add("--lr", o.lr,
           o.lr > 0 ? "learning rate of the first step" : "learning rate of the first step; 0: the model's");
  line.add("--momentum", o.momentum, "of SGD");
  line.add("--weight-decay", o.weight_decay, "added to the gradient, times the weight");
  line.add("--size", o.size, "pixels of a picture's side [the net's; " + any_size + " takes others]");
  line.add("--seed", o.seed, "of weights, dropout and the order of the pictures");
  line.add("--threads", o.threads, "threads to compute with");
  line.add("--device", o.device, "where to compute");
  line.add_output("--out", o.out, "file for the weights, .safetensors or .pth");
  line.exclude("--steps", "--epochs");
  line.exclude("--synthetic", "--data");
  line.parse(argc, argv);
}

dnn::DataLoader make_loader(const TrainingOptions& o, const dnn::ZooEntry& entry, int& classes) {
  const dnn::DataLoaderOptions order{.batch_size = o.batch, .shuffle = true, .seed = static_cast<uint64_t>(o.seed)};
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
  if (const auto hidden = static_cast<int64_t>(pictures->files().hidden.size()); hidden > 0) {
    std::cout << "left out: " << dnn::counted(hidden, "hidden file or folder", "hidden files and folders") << '\n';
  }
  return {pictures, order};
}

void check_finite(double loss, dnn::Module& net, const dnn::Tensor& images, int64_t step) {
  if (std::isfinite(loss)) return;
  throw dnn::Error("the loss is " + std::to_string(std::isnan(loss) ? std::abs(loss) : loss) + " in step " +
                   std::to_string(step) + "; " + dnn::describe_non_finite(net, images) + "; try a lower --lr");
}
