#include <libdnn/layers/upsample.h>

#include <fmt/format.h>

#include <cmath>

#include <libdnn/ops/check.h>
#include <libdnn/ops/upsample.h>

namespace dnn {

Upsample::Upsample(const Options& o) : options_(o) {
  if (o.size.has_value() == o.scale_factor.has_value()) {
    throw Error(fmt::format("[upsample] needs either a size or a scale_factor; got {}", o.size ? "both" : "none"));
  }
  if (o.size) check_at_least("upsample", "size", *o.size, 1);
  if (o.scale_factor) {
    const auto [h, w] = *o.scale_factor;
    if (!(h > 0 && w > 0 && std::isfinite(h) && std::isfinite(w))) {
      throw Error(fmt::format("[upsample] scale_factor must be above 0 and finite; got {}x{}", h, w));
    }
  }
  if (o.align_corners && o.mode != Mode::bilinear) {
    throw Error("[upsample] align_corners is an option of mode bilinear; got another mode");
  }
}

Tensor Upsample::forward(const Tensor& x) {
  const Options& o = options_;
  if (o.mode == Mode::nearest) return o.size ? upsample_nearest(x, *o.size) : upsample_nearest_by(x, *o.scale_factor);
  if (o.mode == Mode::nearest_exact) {
    return o.size ? upsample_nearest_exact(x, *o.size) : upsample_nearest_exact_by(x, *o.scale_factor);
  }
  return o.size ? upsample_bilinear(x, *o.size, o.align_corners)
                : upsample_bilinear_by(x, *o.scale_factor, o.align_corners);
}

}  // namespace dnn
