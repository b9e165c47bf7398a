#pragma once
#include <optional>

#include <libdnn/layers/module.h>
#include <libdnn/layers/sizes.h>

namespace dnn {

// Pictures brought to a size, or to a multiple of their own, rounded down. Upsample({.scale_factor = 2});
// Upsample({.size = Size2(33, 65), .mode = Upsample::Mode::bilinear})
class Upsample : public Module {
 public:
  enum class Mode { nearest, nearest_exact, bilinear };
  struct Options {
    std::optional<Size2> size = {};           // either this
    std::optional<Scale2> scale_factor = {};  // or this
    Mode mode = Mode::nearest;
    bool align_corners = false;  // bilinear: the centers of the corner pixels stay, else the outer edges
  };

  explicit Upsample(const Options& options);

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Options& options() const { return options_; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace dnn
