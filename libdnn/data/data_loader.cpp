#include <libdnn/data/data_loader.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <kernels/philox.h>
#include <libdnn/core/dispatch.h>

namespace dnn {
namespace {

// Shuffling and what data sets draw have their own streams of random numbers, beside that of the program's random
// operations.
constexpr uint64_t kShuffleStream = uint64_t{1} << 63, kSampleStream = uint64_t{3} << 62;
constexpr int64_t kEpochs = int64_t{1} << 62;  // of which each has numbers of its own in both streams

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

class MemoryDataset : public Dataset {
 public:
  MemoryDataset(ImageDataset data, const Device& device) : data_(std::move(data)) {
    data_.check("data_loader");
    if (!data_.images.defined()) return;
    data_.labels = data_.labels.to("cpu");
    data_.images = data_.images.to(device);
  }

  int64_t size() const override { return data_.size(); }

  Batch load(const std::vector<int32_t>& samples, RandomState, const Device& device) override {
    const int count = static_cast<int>(samples.size());
    const int32_t* all_labels = data_.labels.data<int32_t>();
    std::vector<int32_t> labels(samples.size());
    std::transform(samples.begin(), samples.end(), labels.begin(), [&](int32_t i) { return all_labels[i]; });

    const Tensor& from = data_.images;
    const Tensor index = from_vector(samples, {count}, device);
    Batch batch{Tensor({count, from.size(1), from.size(2), from.size(3)}, DType::float32, device),
                from_vector(labels, {count}, device)};
    const RowsShape shape{count, static_cast<int>(from.numel() / from.size(0))};
    run_kernel("data_loader", {&batch.images}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.gather_pixels(context, shape, from.data<uint8_t>(), index.data<int32_t>(), T{255}, batch.images.data<T>());
    });
    return batch;
  }

 private:
  ImageDataset data_;  // images on the device, labels in host memory
};

void check_part(const char* name, const Tensor& part, bool integers, const Device& device) {
  const auto fault = [&](const std::string& what) {
    return Error(fmt::format("[data_loader] the {} that a data set gives {}", name, what));
  };
  if (!part.defined()) throw fault("must be a tensor; got an undefined one");
  if (part.dims() < 1) throw fault(fmt::format("have a first dimension, of samples; got {}", part.shape().str()));
  if (part.dtype() != DType::float32 && part.dtype() != DType::float64 && !(integers && part.dtype() == DType::int32)) {
    throw fault(fmt::format("are float32 or float64{}; got {}", integers ? ", or int32" : "", name_of(part.dtype())));
  }
  if (!(part.device() == device)) {
    throw fault(fmt::format("must be on {}, as asked for; got them on {}", device.name(), part.device().name()));
  }
}

// Data sets are classes of users' own: what they give is not what they were asked for until that has been checked.
void check_batch(const Batch& batch, size_t wanted, const Device& device) {
  check_part("images", batch.images, false, device);
  check_part("labels", batch.labels, true, device);
  const int images = batch.images.size(0), labels = batch.labels.size(0);
  if (images != labels) {
    throw Error(
        fmt::format("[data_loader] the data set gave {} images and {} labels for {} samples", images, labels, wanted));
  }
  if (static_cast<size_t>(images) > wanted) {
    throw Error(fmt::format("[data_loader] the data set gave {} samples where {} were asked for", images, wanted));
  }
}

}  // namespace

DataLoader::DataLoader(std::shared_ptr<Dataset> dataset, const DataLoaderOptions& options, const Device& device)
    : dataset_(std::move(dataset)), options_(options), device_(device) {
  if (options.batch_size < 1) {
    throw Error(fmt::format("[data_loader] batch_size must be at least 1; got {}", options.batch_size));
  }
  if (!dataset_) throw Error("[data_loader] needs a data set; got a null pointer");
  const int64_t size = dataset_->size();
  if (size < 1) throw Error("[data_loader] the data set is empty");
  if (size > std::numeric_limits<int32_t>::max()) {
    throw Error(fmt::format("[data_loader] a data set has at most 2^31 - 1 samples; got {}", size));
  }
  order_.resize(static_cast<size_t>(size));
  start_epoch(0);
}

DataLoader::DataLoader(const ImageDataset& dataset, const DataLoaderOptions& options, const Device& device)
    : DataLoader(std::make_shared<MemoryDataset>(dataset, device), options, device) {}

int64_t DataLoader::samples() const {
  return options_.drop_last ? batches() * options_.batch_size : static_cast<int64_t>(order_.size());
}

int64_t DataLoader::batches() const {
  const auto size = static_cast<int64_t>(order_.size());
  return size / options_.batch_size + (!options_.drop_last && size % options_.batch_size != 0 ? 1 : 0);
}

void DataLoader::start_epoch(int64_t epoch) {
  if (epoch < 0 || epoch >= kEpochs) {
    throw Error(fmt::format("[data_loader] an epoch's number is from 0 to {}; got {}", kEpochs - 1, epoch));
  }
  std::iota(order_.begin(), order_.end(), 0);
  if (options_.shuffle) shuffle(order_, options_.seed, static_cast<uint64_t>(epoch));
  epoch_ = epoch;
  position_ = 0;
  ended_ = false;
}

bool DataLoader::next(Batch& batch) {
  if (ended_) start_epoch(epoch_ + 1);
  const RandomState random{options_.seed, kSampleStream | static_cast<uint64_t>(epoch_)};
  batch = {};  // its memory serves the next one
  while (position_ < samples()) {
    const int64_t end = std::min(position_ + options_.batch_size, samples());
    const std::vector<int32_t> chosen(order_.begin() + position_, order_.begin() + end);
    position_ = end;
    Batch loaded = dataset_->load(chosen, random, device_);
    check_batch(loaded, chosen.size(), device_);
    if (loaded.images.size(0) == 0) continue;
    batch = std::move(loaded);
    return true;
  }
  ended_ = true;
  return false;
}

}  // namespace dnn
