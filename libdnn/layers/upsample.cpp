#include <libdnn/layers/upsample.h>

#include <fmt/format.h>

#include <cmath>

#include <libdnn/ops/check.h>
#include <libdnn/ops/upsample.h>

namespace dnn {

Upsample::Upsample(const Options& o) : options_(o) {
  if (o.size ? o.scale_factor != 0 : !(o.scale_factor > 0)) {
    throw Error(fmt::format("[upsample] needs a size or a scale_factor above 0, not both; got scale_factor {}{}",
                            o.scale_factor, o.size ? " and a size" : ""));
  }
  if (o.align_corners && o.mode != Mode::bilinear) {
    throw Error("[upsample] align_corners is an option of mode bilinear; got mode nearest");
  }
}

std::array<int, 2> Upsample::size_for(const Tensor& x) const {
  if (options_.size) return *options_.size;
  check_dims("upsample", "x", x, 4);
  const double h = x.size(1) * options_.scale_factor, w = x.size(2) * options_.scale_factor;
  // torch rounds such a size down but goes on with the factor, so that the last pixels are taken from beside the edge.
  if (h != std::floor(h) || w != std::floor(w)) {
    throw Error(
        fmt::format("[upsample] scale_factor must give whole sizes, else set size; got {} for a picture of {}x{}",
                    options_.scale_factor, x.size(1), x.size(2)));
  }
  return {static_cast<int>(h), static_cast<int>(w)};
}

Tensor Upsample::forward(const Tensor& x) {
  const std::array<int, 2> size = size_for(x);
  return options_.mode == Mode::nearest ? upsample_nearest(x, size)
                                        : upsample_bilinear(x, size, options_.align_corners);
}

}  // namespace dnn
