#include <libdnn/data/dataset.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include <libdnn/core/counted.h>
#include <libdnn/data/idx.h>

namespace dnn {
namespace {

// The file as distributed, or unpacked; some copies write a dot before "idx".
std::string find_file(const std::string& folder, const std::string& part, const std::string& kind) {
  for (const char* separator : {"-", "."}) {
    for (const char* ending : {"", ".gz"}) {
      const auto path = std::filesystem::path(folder) / fmt::format("{}{}{}-ubyte{}", part, separator, kind, ending);
      if (std::filesystem::is_regular_file(path)) return path.string();
    }
  }
  throw Error(fmt::format("[mnist] no {}-{}-ubyte or {}-{}-ubyte.gz in {}", part, kind, part, kind, folder));
}

}  // namespace

ImageDataset load_mnist(const std::string& folder, MnistPart part) {
  constexpr int kClasses = 10;
  const std::string prefix = part == MnistPart::train ? "train" : "t10k";
  const std::string image_path = find_file(folder, prefix + "-images", "idx3");
  const std::string label_path = find_file(folder, prefix + "-labels", "idx1");
  const IdxArray images = read_idx(image_path, 3), labels = read_idx(label_path, 1);
  const int count = images.sizes[0];
  if (labels.sizes[0] != count) {
    throw Error(fmt::format("[mnist] {} has {}, {} has {}", image_path, counted(count, "picture"), label_path,
                            counted(labels.sizes[0], "label")));
  }
  if (count == 0 || images.sizes[1] == 0 || images.sizes[2] == 0) {
    throw Error(fmt::format("[mnist] {} holds no pictures", image_path));
  }
  std::vector<int32_t> wide(labels.values.begin(), labels.values.end());
  const auto wrong = std::find_if(wide.begin(), wide.end(), [](int32_t label) { return label >= kClasses; });
  if (wrong != wide.end()) {
    throw Error(fmt::format("[mnist] {}: label {} of sample {} is outside 0..{}", label_path, *wrong,
                            wrong - wide.begin(), kClasses - 1));
  }
  return {from_vector(images.values, {count, images.sizes[1], images.sizes[2], 1}, "cpu"),
          from_vector(wide, {count}, "cpu"), kClasses};
}

void check_samples(const char* op, const std::vector<int32_t>& samples, int64_t size) {
  for (const int32_t sample : samples) {
    if (sample < 0 || sample >= size) {
      throw Error(fmt::format("[{}] there is no sample {} in a set of {}", op, sample, size));
    }
  }
}

void ImageDataset::check(const char* op) const {
  if (!images.defined()) return;
  if (images.dims() != 4 || images.dtype() != DType::uint8) {
    throw Error(fmt::format("[{}] pictures are uint8 (N, H, W, C); got {} {}", op, name_of(images.dtype()),
                            images.shape().str()));
  }
  if (!labels.defined() || labels.dtype() != DType::int32 || !(labels.shape() == Shape{images.size(0)})) {
    throw Error(
        fmt::format("[{}] each of {} pictures has a label, int32 ({}); got {}", op, images.size(0), images.size(0),
                    labels.defined() ? fmt::format("{} {}", name_of(labels.dtype()), labels.shape().str()) : "none"));
  }
}

ImageDataset ImageDataset::first(int64_t count) const {
  check("dataset");
  if (count >= size()) return *this;
  if (count < 0) throw Error(fmt::format("[dataset] the number of samples must not be negative; got {}", count));
  const int rows = static_cast<int>(count);
  ImageDataset part{Tensor({rows, images.size(1), images.size(2), images.size(3)}, DType::uint8, "cpu"),
                    Tensor({rows}, DType::int32, "cpu"), classes};
  const Tensor all_images = images.to("cpu"), all_labels = labels.to("cpu");
  std::copy_n(all_images.data<uint8_t>(), part.images.numel(), part.images.data<uint8_t>());
  std::copy_n(all_labels.data<int32_t>(), count, part.labels.data<int32_t>());
  return part;
}

}  // namespace dnn
