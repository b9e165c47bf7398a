#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <libdnn/data/augment.h>
#include <libdnn/data/dataset.h>

namespace dnn {

// Pictures on the disk, with a label each.
struct ImageFiles {
  std::vector<std::string> paths;
  std::vector<int32_t> labels;
  int classes = 0;
  std::vector<std::string> class_names;  // of label 0, 1, ... where there are names
  std::vector<std::string> hidden = {};  // the folders and pictures that find_images left out because they are hidden
};

// A folder for each class, as torchvision's ImageFolder takes them: the classes are the names of the folders, sorted;
// the pictures are what find_pictures() finds below them. Hidden folders are no classes. Error for a class without a
// picture.
ImageFiles find_images(const std::string& folder);

// A list as Caffe takes them: on each line the path of a picture, below `root`, and its label, from 0 to classes - 1;
// with 0 classes the largest label says how many there are. Error with file and line for a picture that isn't there, or
// a label that is missing or wrong.
ImageFiles read_image_list(const std::string& list, const std::string& root, int classes = 0);

struct ImageFolderOptions {
  Preprocessing preprocessing = imagenet_preprocessing();
  // For training: instead of the preprocessing's resize and crop, parts of the pictures in the crop's size.
  std::optional<Augmentation> augmentation = {};
  bool skip_damaged = false;  // leave a picture that cannot be read out of its batch: otherwise it is an Error
};

// Reads the pictures when they are asked for, several at once.
class ImageFolder : public Dataset {
 public:
  ImageFolder(ImageFiles files, const ImageFolderOptions& options);
  ImageFolder(const std::string& folder, const ImageFolderOptions& options)
      : ImageFolder(find_images(folder), options) {}

  int64_t size() const override { return static_cast<int64_t>(files_.paths.size()); }
  Batch load(const std::vector<int32_t>& samples, RandomState random, const Device& device) override;

  const ImageFiles& files() const { return files_; }
  std::vector<std::string> skipped() const;  // the damaged pictures met so far, each once

 private:
  Tensor read(int32_t sample, RandomState random) const;
  const std::string& path(int32_t sample) const { return files_.paths[static_cast<size_t>(sample)]; }

  ImageFiles files_;
  ImageFolderOptions options_;
  std::set<int32_t> skipped_;
};

}  // namespace dnn
