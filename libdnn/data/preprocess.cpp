#include <libdnn/data/preprocess.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dnn {
namespace {

const char* name_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::nearest:
      return "nearest";
    case Interpolation::bilinear:
      return "bilinear";
    case Interpolation::bicubic:
      break;
  }
  return "bicubic";
}

}  // namespace

std::string Preprocessing::str() const {
  std::string text;
  if (resize > 0) text += fmt::format("shorter side to {} ({}), ", resize, name_of(interpolation));
  if (crop_height > 0) text += fmt::format("centre {} x {}, ", crop_height, crop_width);
  return text +
         fmt::format("{}, mean ({}), std ({})", bgr ? "BGR" : "RGB", fmt::join(mean, ", "), fmt::join(std, ", "));
}

}  // namespace dnn
