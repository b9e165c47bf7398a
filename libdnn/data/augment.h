#pragma once
#include <cstdint>

#include <kernels/context.h>
#include <libdnn/data/preprocess.h>

namespace dnn {

// Training shows a net another part of a picture each time, now and then mirrored: torchvision's RandomResizedCrop and
// RandomHorizontalFlip.
struct Augmentation {
  double least_area = 0.08, most_area = 1;               // of the part, as a share of the picture's
  double least_ratio = 3.0 / 4.0, most_ratio = 4.0 / 3;  // of its width to its height
  double flip = 0.5;                                     // the share of pictures that are mirrored, left to right

  void check(const char* op) const;  // Error where no picture could be drawn so
};

struct RandomCrop {
  int top, left, height, width;
  bool flipped;
  friend bool operator==(const RandomCrop& a, const RandomCrop& b) = default;
};

// What is drawn for sample `sample` of the stream: the same on every machine, with any batch and number of threads. The
// area is uniform and so is the logarithm of the ratio; a part that the picture doesn't hold is drawn again, and after
// ten of them the whole picture is taken, cut from the centre to a ratio within the limits.
RandomCrop draw_crop(int height, int width, const Augmentation& augmentation, RandomState random, int64_t sample);

// The part of the picture in the size wanted.
Image cropped(const Image& image, const RandomCrop& crop, int height, int width, Interpolation interpolation);

}  // namespace dnn
