#include "rows.h"

namespace dnn::test {
namespace {

TEST_CASE("gather_pixels: every row divides as the reference does", "[gather_pixels]") {
  for (const Backend* row : rows_with(&Kernels<float>::gather_pixels)) {
    for (const int cols : {1, 3, 7, 8, 17, 784}) {
      INFO(row->name << ", " << cols << " pixels");
      Context context(*row);
      Buffer<uint8_t> pictures(256 * cols);
      for (int64_t i = 0; i < pictures.size(); ++i) pictures[i] = static_cast<uint8_t>(i * 7 + i / cols);
      const std::vector<int32_t> index{255, 0, 17, 17};
      Buffer<float> y(4 * cols), all(256 * cols);
      row->f32.gather_pixels(context, {4, cols}, pictures.get(), index.data(), 255.0f, y.get());
      row->f32.gather_pixels(context, {256, cols}, pictures.get(), nullptr, 1.0f, all.get());
      row->f32.gather_pixels(context, {0, cols}, pictures.get(), nullptr, 1.0f, nullptr);
      y.check_guards();
      all.check_guards();
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < cols; ++j) {
          REQUIRE(y[i * cols + j] == static_cast<float>(pictures[index[i] * cols + j]) / 255.0f);
        }
      }
      for (int64_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == pictures[i]);
    }
  }
}

}  // namespace
}  // namespace dnn::test
