#include <libdnn/data/image_folder.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include <kernels/backend.h>
#include <kernels/parallel.h>
#include <libdnn/data/find_pictures.h>

namespace dnn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r\v\f";

std::string_view without_blanks_at_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace

ImageFiles find_images(const std::string& folder) try {
  ImageFiles files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code ignored;
    if (!entry.is_directory(ignored)) continue;
    const std::string name = entry.path().filename().string();
    if (is_hidden_name(name)) {
      files.hidden.push_back(entry.path().string());
    } else {
      files.class_names.push_back(name);
    }
  }
  if (files.class_names.empty()) throw Error(fmt::format("[image_folder] no folder of a class in {}", folder));
  std::sort(files.class_names.begin(), files.class_names.end());
  std::sort(files.hidden.begin(), files.hidden.end());
  for (size_t label = 0; label < files.class_names.size(); ++label) {
    const std::string path = (fs::path(folder) / files.class_names[label]).string();
    const FoundPictures found = find_pictures(path);
    if (found.paths.empty()) throw Error(fmt::format("[image_folder] no file .jpg, .jpeg, .png or .bmp in {}", path));
    files.paths.insert(files.paths.end(), found.paths.begin(), found.paths.end());
    files.hidden.insert(files.hidden.end(), found.hidden.begin(), found.hidden.end());
    files.labels.resize(files.paths.size(), static_cast<int32_t>(label));
  }
  files.classes = static_cast<int>(files.class_names.size());
  return files;
} catch (const fs::filesystem_error& error) {
  throw Error(fmt::format("[image_folder] cannot read {}: {}", folder, error.code().message()));
}

ImageFiles read_image_list(const std::string& list, const std::string& root, int classes) {
  if (classes < 0) throw Error(fmt::format("[image_list] the number of classes must not be negative; got {}", classes));
  std::ifstream file(list, std::ios::binary);
  if (!file) throw Error(fmt::format("[image_list] cannot open {}: {}", list, std::strerror(errno)));
  ImageFiles files;
  const int32_t most = classes > 0 ? classes - 1 : std::numeric_limits<int32_t>::max() - 1;
  std::string whole;
  for (int64_t number = 1; std::getline(file, whole); ++number) {
    const auto fault = [&](const std::string& what) {
      return Error(fmt::format("[image_list] {}:{}: {}", list, number, what));
    };
    const std::string_view line = without_blanks_at_end(whole);
    if (line.empty()) continue;
    const size_t blank = line.find_last_of(kBlanks);
    const std::string name(blank == line.npos ? "" : without_blanks_at_end(line.substr(0, blank)));
    if (name.empty()) throw fault(fmt::format("a line is a path, a blank and a label; got '{}'", line));
    const std::string_view text = line.substr(blank + 1);
    int32_t label = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
    if (error != std::errc() || end != text.data() + text.size() || label < 0 || label > most) {
      throw fault(fmt::format("the label must be a number from 0 to {}; got '{}'", most, text));
    }
    const fs::path path = fs::path(root) / name;
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) throw fault(fmt::format("there is no file {}", path.string()));
    files.paths.push_back(path.string());
    files.labels.push_back(label);
  }
  if (file.bad()) throw Error(fmt::format("[image_list] cannot read {}: {}", list, std::strerror(errno)));
  if (files.paths.empty()) throw Error(fmt::format("[image_list] {} names no picture", list));
  files.classes = classes > 0 ? classes : *std::max_element(files.labels.begin(), files.labels.end()) + 1;
  return files;
}

ImageFolder::ImageFolder(ImageFiles files, const ImageFolderOptions& options)
    : files_(std::move(files)), options_(options) {
  if (files_.paths.size() != files_.labels.size()) {
    throw Error(fmt::format("[image_folder] every picture has a label; got {} and {}", files_.paths.size(),
                            files_.labels.size()));
  }
  if (files_.classes < 0) {
    throw Error(fmt::format("[image_folder] the number of classes must not be negative; got {}", files_.classes));
  }
  for (size_t i = 0; i < files_.labels.size(); ++i) {
    const int32_t label = files_.labels[i];
    if (label < 0 || (files_.classes > 0 && label >= files_.classes)) {
      throw Error(
          fmt::format("[image_folder] label {} of {} is none of {} classes", label, files_.paths[i], files_.classes));
    }
  }
  const Preprocessing& p = options_.preprocessing;
  if (p.crop_height < 1 || p.crop_width < 1) {
    throw Error(
        fmt::format("[image_folder] the preprocessing must crop, so that all pictures get one size; got {} x {}",
                    p.crop_height, p.crop_width));
  }
  preprocess(Image{1, 1, {0, 0, 0}}, p, "cpu");  // refuses what makes no sense for any picture
  if (options_.augmentation) options_.augmentation->check("image_folder");
}

Tensor ImageFolder::read(int32_t sample, RandomState random) const {
  const Image image = read_image(path(sample));
  Preprocessing steps = options_.preprocessing;
  try {
    if (!options_.augmentation) return preprocess(image, steps, "cpu");
    const RandomCrop crop = draw_crop(image.height, image.width, *options_.augmentation, random, sample);
    steps.resize = 0;
    return preprocess(cropped(image, crop, steps.crop_height, steps.crop_width, steps.interpolation), steps, "cpu");
  } catch (const Error& error) {
    throw Error(fmt::format("[image_folder] {}: {}", path(sample), error.what()));
  }
}

Batch ImageFolder::load(const std::vector<int32_t>& samples, RandomState random, const Device& device) {
  check_samples("image_folder", samples, size());
  // The first fault is that of the first picture in the batch, whichever thread comes upon one first.
  std::vector<Tensor> pictures(samples.size());
  std::vector<std::string> faults(samples.size());
  parallel_for(thread_context("cpu"), static_cast<int64_t>(samples.size()), [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    try {
      pictures[at] = read(samples[at], random);
    } catch (const Error& error) {
      faults[at] = error.what();
    }
  });
  std::vector<int32_t> labels;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (pictures[i].defined()) {
      labels.push_back(files_.labels[static_cast<size_t>(samples[i])]);
    } else if (options_.skip_damaged) {
      skipped_.insert(samples[i]);
    } else {
      throw Error(faults[i]);
    }
  }
  std::erase_if(pictures, [](const Tensor& picture) { return !picture.defined(); });

  const int count = static_cast<int>(labels.size());
  const Preprocessing& p = options_.preprocessing;
  const Tensor images({count, p.crop_height, p.crop_width, p.grey ? 1 : 3}, DType::float32, "cpu");
  float* to = images.data<float>();
  for (const Tensor& picture : pictures) to = std::copy_n(picture.data<float>(), picture.numel(), to);
  return {images.to(device), from_vector(labels, {count}, device)};
}

std::vector<std::string> ImageFolder::skipped() const {
  std::vector<std::string> paths;
  for (const int32_t sample : skipped_) paths.push_back(path(sample));
  return paths;
}

}  // namespace dnn
