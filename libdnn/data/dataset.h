#pragma once
#include <string>
#include <vector>

#include <kernels/context.h>
#include <libdnn/core/tensor.h>

namespace dnn {

struct Batch {
  Tensor images;  // float32 (n, H, W, C), or other inputs, (n, ...)
  Tensor labels;  // int32 (n), or other targets, (n, ...): int32 or float
};

// Where a loader's samples come from.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;

  // The samples of these numbers, in this order, on a device; a set that leaves samples out hands out fewer. `random`
  // is the epoch's stream: what is drawn for a sample follows from it and the sample's number, not from the batch.
  virtual Batch load(const std::vector<int32_t>& samples, RandomState random, const Device& device) = 0;
};

// Error where one of the numbers isn't that of a sample, 0 to size - 1.
void check_samples(const char* op, const std::vector<int32_t>& samples, int64_t size);

// Pictures of one size with a label each, kept as bytes: images uint8 (N, H, W, C), labels int32 (N) in host memory.
struct ImageDataset {
  Tensor images;
  Tensor labels;
  int classes = 0;

  int64_t size() const { return images.defined() ? images.size(0) : 0; }
  void check(const char* op) const;         // Error where images and labels aren't so; an empty set has neither
  ImageDataset first(int64_t count) const;  // the first `count` samples, or all where there are fewer
};

enum class MnistPart { train, test };

// MNIST's training (60,000) or test (10,000) pictures from the four files of its distribution, gzipped or not, in
// `folder`. Error with the file's name where one is missing, damaged, or does not fit its partner.
ImageDataset load_mnist(const std::string& folder, MnistPart part);

}  // namespace dnn
