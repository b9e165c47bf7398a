#include "training.h"

#include <iostream>

#include "command_line.h"

void read_training_options(const std::string& description, const std::vector<std::string>& models,
                           const std::string& any_size, int argc, char** argv, TrainingOptions& o) {
  CommandLine line(description);
  line.add("--model", o.model, "Caffe's or torchvision's", models);
  line.add_path("--data", o.data, "a folder with a folder of pictures for each class");
  line.add("--synthetic", o.synthetic, "how many pictures to make up, without --data");
  line.add("--batch", o.batch, "pictures in a step");
  line.add("--epochs", o.epochs, "passes over the pictures");
  line.add("--steps", o.steps, "steps, instead of --epochs");
  line.add("--lr", o.lr, "learning rate of the first step");
  line.add("--momentum", o.momentum, "of SGD");
  line.add("--weight-decay", o.weight_decay, "added to the gradient, times the weight");
  line.add("--size", o.size, "pixels of a picture's side [the net's; " + any_size + " takes others]");
  line.add("--threads", o.threads, "threads to compute with");
  line.add("--device", o.device, "where to compute");
  line.add("--out", o.out, "file for the weights, .safetensors");
  line.parse(argc, argv);
}

dnn::DataLoader make_loader(const TrainingOptions& o, const dnn::ZooEntry& entry, int& classes) {
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
  if (const size_t hidden = pictures->files().hidden.size(); hidden > 0) {
    std::cout << "left out: " << hidden << " hidden files and folders\n";
  }
  return {pictures, order};
}
