#include <libdnn/data/data_loader.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include <kernels/philox.h>
#include <libdnn/core/dispatch.h>

namespace dnn {
namespace {

// Shuffling has its own stream of random numbers, beside that of the program's random operations.
constexpr uint64_t kShuffleStream = uint64_t{1} << 63;

// Fisher-Yates with Philox words; the product of a 32-bit word and the range takes its upper half (Lemire, 2019),
// whose bias of below 2^-5 ulp at 60,000 samples no test could see.
void shuffle(std::vector<int32_t>& order, uint64_t seed, uint64_t epoch) {
  const RandomState state{seed, kShuffleStream | epoch};
  PhiloxBlock block{};
  for (size_t i = order.size(); i > 1; --i) {
    const size_t drawn = order.size() - i;
    if (drawn % 4 == 0) block = philox_block(state, drawn / 4);
    const auto j = static_cast<size_t>(uint64_t{block.word[drawn % 4]} * i >> 32);
    std::swap(order[i - 1], order[j]);
  }
}

}  // namespace

DataLoader::DataLoader(const ImageDataset& dataset, const DataLoaderOptions& options, const Device& device)
    : dataset_(dataset), options_(options), device_(device), order_(static_cast<size_t>(dataset.size())) {
  if (options.batch_size < 1) {
    throw Error(fmt::format("[data_loader] batch_size must be at least 1; got {}", options.batch_size));
  }
  if (dataset.size() == 0) throw Error("[data_loader] the data set is empty");
  dataset_.images = dataset.images.to(device);
  start_epoch(0);
}

int64_t DataLoader::samples() const { return options_.drop_last ? batches() * options_.batch_size : dataset_.size(); }

int64_t DataLoader::batches() const {
  const int64_t whole = dataset_.size() / options_.batch_size;
  return whole + (!options_.drop_last && dataset_.size() % options_.batch_size != 0 ? 1 : 0);
}

void DataLoader::start_epoch(int64_t epoch) {
  std::iota(order_.begin(), order_.end(), 0);
  if (options_.shuffle) shuffle(order_, options_.seed, static_cast<uint64_t>(epoch));
  position_ = 0;
}

bool DataLoader::next(Batch& batch) {
  const int64_t left = samples() - position_;
  if (left <= 0) return false;
  const int count = static_cast<int>(std::min<int64_t>(left, options_.batch_size));
  const Tensor& images = dataset_.images;
  const std::vector<int32_t> chosen(order_.begin() + position_, order_.begin() + position_ + count);
  position_ += count;

  const int32_t* all_labels = dataset_.labels.data<int32_t>();
  std::vector<int32_t> labels(chosen.size());
  std::transform(chosen.begin(), chosen.end(), labels.begin(), [&](int32_t i) { return all_labels[i]; });
  batch.labels = from_vector(labels, {count}, device_);

  const Tensor index = from_vector(chosen, {count}, device_);
  batch.images = Tensor({count, images.size(1), images.size(2), images.size(3)}, DType::float32, device_);
  const RowsShape shape{count, static_cast<int>(images.numel() / images.size(0))};
  run_kernel("data_loader", {&batch.images}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.gather_pixels(context, shape, images.data<uint8_t>(), index.data<int32_t>(), T{255}, batch.images.data<T>());
  });
  return true;
}

}  // namespace dnn
