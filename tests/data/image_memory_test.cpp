#include <libdnn/data/image_memory.h>

#include <catch2/catch.hpp>

#include <libdnn/data/data_loader.h>
#include <libdnn/data/synthetic.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("image_memory: pictures are preprocessed as they are asked for", "[image_memory]") {
  const ImageDataset data = synthetic_pictures(5, 2, 6, 8);
  const Preprocessing steps{.crop_height = 4, .crop_width = 4, .mean = {0.5F, 0.25F, 0}, .std = {2, 1, 0.5F}};
  DataLoader loader(std::make_shared<ImageMemory>(data, steps), {.batch_size = 3});
  Batch batch;
  for (const int32_t none : {-1, 5}) {
    CHECK_THROWS_WITH(ImageMemory(data, steps).load({0, none}, {}, "cpu"),
                      Contains("no sample " + std::to_string(none) + " in a set of 5"));
  }
  REQUIRE(loader.next(batch));
  REQUIRE(loader.next(batch));
  CHECK(batch.images.shape() == Shape{2, 4, 4, 3});
  CHECK(batch.labels.to_vector<int32_t>() == std::vector<int32_t>{1, 0});
  const std::vector<uint8_t> pixels = data.images.to_vector<uint8_t>();
  const uint8_t* corner = &pixels[static_cast<size_t>(((3 * 6 + 1) * 8 + 2) * 3)];
  const std::vector<float> values = batch.images.to_vector<float>();
  for (size_t c = 0; c < 3; ++c) {
    CHECK(values[c] == Approx((static_cast<float>(corner[c]) / 255 - steps.mean[c]) / steps.std[c]));
  }
  CHECK_FALSE(loader.next(batch));
}

TEST_CASE("image_memory: grey pictures and an empty set are refused", "[image_memory]") {
  const ImageDataset grey{Tensor({1, 2, 2, 1}, DType::uint8, "cpu"), zeros({1}, DType::int32, "cpu"), 1};
  CHECK_THROWS_WITH(ImageMemory(grey, {}), Contains("(1, 2, 2, 1)"));
  ImageDataset few = synthetic_pictures(3, 2, 4, 4);
  few.labels = from_vector<int32_t>({1}, {1}, "cpu");
  CHECK_THROWS_WITH(ImageMemory(few, {}), Contains("[image_memory] each of 3 pictures has a label") && Contains("(1)"));
  CHECK_THROWS_WITH(few.first(2), Contains("[dataset] each of 3 pictures"));
  CHECK_THROWS_WITH(DataLoader(std::make_shared<ImageMemory>(ImageDataset{}, Preprocessing{}), {}), Contains("empty"));
}

}  // namespace
}  // namespace dnn
