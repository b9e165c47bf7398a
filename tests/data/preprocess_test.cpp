#include <catch2/catch.hpp>

#include <libdnn/data/preprocess.h>

namespace dnn {
namespace {

TEST_CASE("preprocess: says what it does", "[preprocess]") {
  CHECK(imagenet_preprocessing().str() ==
        "shorter side to 256 (bilinear), centre 224 x 224, RGB, mean (0.485, 0.456, 0.406), std (0.229, 0.224, 0.225)");
  CHECK(Preprocessing{.bgr = true}.str() == "BGR, mean (0, 0, 0), std (1, 1, 1)");
}

}  // namespace
}  // namespace dnn
