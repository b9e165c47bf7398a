#include <libdnn/layers/pool2d.h>

#include <fmt/format.h>

#include <libdnn/ops/check.h>

namespace dnn {
namespace {

void check_pooling(const char* op, const Pool2dOptions& o) {
  check_at_least(op, "kernel_size", o.window, 1);
  check_at_least(op, "stride", o.stride, 1);
  check_at_least(op, "dilation", o.dilation, 1);
  check_padding(op, o.padding);
  for (size_t side = 0; side < 4; ++side) {
    const size_t direction = side % 2;
    const int64_t extent = int64_t{o.dilation[direction]} * (o.window[direction] - 1) + 1;
    if (o.padding[side] < extent) continue;
    throw Error(
        fmt::format("[{}] padding must be smaller than the window; got {} for {}", op, o.padding[side], extent));
  }
}

}  // namespace

MaxPool2d::MaxPool2d(const Options& o)
    : options_{.window = o.kernel_size,
               .stride = o.stride.value_or(o.kernel_size),
               .padding = o.padding,
               .dilation = o.dilation,
               .ceil_mode = o.ceil_mode} {
  check_pooling("max_pool2d", options_);
}

AvgPool2d::AvgPool2d(const Options& o)
    : options_{.window = o.kernel_size,
               .stride = o.stride.value_or(o.kernel_size),
               .padding = o.padding,
               .ceil_mode = o.ceil_mode,
               .count_include_pad = o.count_include_pad} {
  check_pooling("avg_pool2d", options_);
}

}  // namespace dnn
