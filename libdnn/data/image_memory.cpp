#include <libdnn/data/image_memory.h>

#include <fmt/format.h>

#include <utility>

namespace dnn {

ImageMemory::ImageMemory(ImageDataset pictures, const Preprocessing& preprocessing)
    : pictures_(std::move(pictures)), preprocessing_(preprocessing) {
  pictures_.check("image_memory");
  if (pictures_.images.defined()) pictures_.images = pictures_.images.to("cpu");
  if (pictures_.labels.defined()) pictures_.labels = pictures_.labels.to("cpu");
  if (pictures_.size() > 0 && pictures_.images.size(3) != 3) {
    throw Error(fmt::format("[image_memory] pictures have three channels; got {}", pictures_.images.shape().str()));
  }
}

Batch ImageMemory::load(const std::vector<int32_t>& samples, RandomState, const Device& device) {
  check_samples("image_memory", samples, size());
  const Tensor& all = pictures_.images;
  const int64_t bytes = int64_t{all.size(1)} * all.size(2) * all.size(3);
  std::vector<Image> images;
  std::vector<int32_t> labels;
  for (const int32_t sample : samples) {
    const uint8_t* pixels = all.data<uint8_t>() + sample * bytes;
    images.push_back({all.size(1), all.size(2), {pixels, pixels + bytes}});
    labels.push_back(pictures_.labels.data<int32_t>()[sample]);
  }
  return {preprocess(images, preprocessing_, device), from_vector(labels, {static_cast<int>(labels.size())}, device)};
}

}  // namespace dnn
