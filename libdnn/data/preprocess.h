#pragma once
#include <array>
#include <string>
#include <vector>

#include <libdnn/core/tensor.h>
#include <libdnn/data/image.h>

namespace dnn {

// How a picture is resized. Bilinear and bicubic widen their filter where they shrink, so that no pixel is left out.
enum class Interpolation { nearest, bilinear, bicubic };

// What becomes of a picture before a net sees it, in this order.
struct Preprocessing {
  int resize = 0;  // of the shorter side, in pixels; the longer side follows; 0: none
  Interpolation interpolation = Interpolation::bilinear;
  int crop_height = 0, crop_width = 0;  // from the centre; black around a picture that is smaller; 0: none
  // Of the pixels in [0, 1], in the order of the channels that the net gets: (pixel - mean) / std.
  std::array<float, 3> mean{0, 0, 0}, std{1, 1, 1};
  bool bgr = false;   // whether the net gets blue first, as Caffe's do
  bool grey = false;  // whether it gets one channel, as PIL's convert("L") makes it first of all; mean[0], std[0]

  std::string str() const;
};

// What torchvision's nets for ImageNet expect.
constexpr Preprocessing imagenet_preprocessing(int crop = 224, int resize = 256) {
  return {.resize = resize,
          .crop_height = crop,
          .crop_width = crop,
          .mean = {0.485F, 0.456F, 0.406F},
          .std = {0.229F, 0.224F, 0.225F}};
}

// The input of a net, float32 (N, H, W, 3) or, grey, (N, H, W, 1), bit for bit as torchvision makes it of the same
// pixels (Resize, CenterCrop, ToTensor, Normalize on a PIL picture). Without a crop, pictures that end up in different
// sizes are an Error.
Tensor preprocess(const std::vector<Image>& images, const Preprocessing& steps,
                  const Device& device = default_device());
Tensor preprocess(const Image& image, const Preprocessing& steps, const Device& device = default_device());

}  // namespace dnn
