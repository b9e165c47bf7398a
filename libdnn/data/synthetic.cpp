#include <libdnn/data/synthetic.h>

#include <fmt/format.h>

#include <kernels/philox.h>

namespace dnn {
namespace {

// Byte i of a stream of random ones.
uint32_t random_byte(RandomState state, int64_t i) {
  return philox_block(state, static_cast<uint64_t>(i) / 4).word[i % 4] >> 24;
}

}  // namespace

ImageDataset synthetic_pictures(int count, int classes, int height, int width, uint64_t seed) {
  if (count < 1 || classes < 1 || height < 1 || width < 1) {
    throw Error(
        fmt::format("[synthetic_pictures] there must be a picture, a class and a pixel; got {} pictures of {} x {} "
                    "in {} classes",
                    count, width, height, classes));
  }
  constexpr int kFields = 4, kChannels = 3, kColours = kFields * kFields * kChannels;
  constexpr uint64_t kColourStream = 0, kNoiseStream = 1;
  ImageDataset data{Tensor({count, height, width, kChannels}, DType::uint8, "cpu"),
                    Tensor({count}, DType::int32, "cpu"), classes};
  uint8_t* pixel = data.images.data<uint8_t>();
  int64_t number = 0;
  for (int i = 0; i < count; ++i) {
    const int label = i % classes;
    data.labels.data<int32_t>()[i] = label;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int64_t field = int64_t{y} * kFields / height * kFields + int64_t{x} * kFields / width;
        for (int c = 0; c < kChannels; ++c, ++number) {
          const uint32_t colour = random_byte({seed, kColourStream}, int64_t{label} * kColours + field * kChannels + c);
          *pixel++ = static_cast<uint8_t>((3 * colour + random_byte({seed, kNoiseStream}, number)) / 4);
        }
      }
    }
  }
  return data;
}

}  // namespace dnn
