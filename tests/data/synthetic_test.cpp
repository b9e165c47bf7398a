#include <libdnn/data/synthetic.h>

#include <catch2/catch.hpp>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("synthetic_pictures: fields in the colours of the class, under noise", "[synthetic]") {
  const ImageDataset data = synthetic_pictures(6, 3, 8, 12, 5);
  CHECK(data.images.shape() == Shape{6, 8, 12, 3});
  CHECK(data.labels.to_vector<int32_t>() == std::vector<int32_t>{0, 1, 2, 0, 1, 2});
  CHECK(data.classes == 3);
  const std::vector<uint8_t> pixels = data.images.to_vector<uint8_t>();
  const auto at = [&](int i, int y, int x, int c) {
    return int{pixels[static_cast<size_t>(((i * 8 + y) * 12 + x) * 3 + c)]};
  };
  // A field is 2 x 3 pixels, and noise makes up a quarter.
  int largest = 0, differences = 0;
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 12; ++x) {
      for (int c = 0; c < 3; ++c) {
        largest = std::max({largest, std::abs(at(0, y, x, c) - at(3, y, x, c)),
                            std::abs(at(0, y, x, c) - at(0, y / 2 * 2, x / 3 * 3, c))});
        differences += at(0, y, x, c) != at(3, y, x, c) ? 1 : 0;
      }
    }
  }
  CHECK(largest <= 64);
  CHECK(differences > 200);
  bool other_class = false;
  for (int x = 0; x < 12; ++x) other_class = other_class || std::abs(at(0, 0, x, 0) - at(1, 0, x, 0)) > 64;
  CHECK(other_class);
  CHECK(synthetic_pictures(6, 3, 8, 12, 5).images.to_vector<uint8_t>() == pixels);
  CHECK(synthetic_pictures(6, 3, 8, 12, 6).images.to_vector<uint8_t>() != pixels);
  CHECK_THROWS_WITH(synthetic_pictures(0, 3, 8, 12), Contains("0 pictures"));
}

}  // namespace
}  // namespace dnn
