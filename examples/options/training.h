#pragma once
#include <libdnn/dnn.h>

#include <string>
#include <vector>

// What the programs that train on pictures share: their options and where the pictures come from.
struct TrainingOptions {
  std::string model = "", data = "", out = "", device = "cpu";
  int synthetic = 64, batch = 16, epochs = 0, steps = 0, size = 0, seed = 1, threads = dnn::num_threads();
  double lr = 0, momentum = 0.9, weight_decay = 5e-4;
};

// `o` holds the defaults. `any_size`: which of the models takes pictures of other sizes than its own.
void read_training_options(const std::string& description, const std::vector<std::string>& models,
                           const std::string& any_size, int argc, char** argv, TrainingOptions& o);

// Both kinds of pictures come in the size and the colours that the net is made for, those in folders as parts that are
// cut out and mirrored at random. Sets the number of classes.
dnn::DataLoader make_loader(const TrainingOptions& o, const dnn::ZooEntry& entry, int& classes);

// Throws dnn::Error that says where it arose, for a loss that is not finite: training can't go on from there.
void check_finite(double loss, dnn::Module& net, const dnn::Tensor& images, int64_t step);
