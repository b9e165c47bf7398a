#include <libdnn/layers/pool2d.h>

namespace dnn {

MaxPool2d::MaxPool2d(const Options& o)
    : options_{.window = o.kernel_size,
               .stride = o.stride.value_or(o.kernel_size),
               .padding = o.padding,
               .ceil_mode = o.ceil_mode} {}

AvgPool2d::AvgPool2d(const Options& o)
    : options_{.window = o.kernel_size,
               .stride = o.stride.value_or(o.kernel_size),
               .padding = o.padding,
               .ceil_mode = o.ceil_mode,
               .count_include_pad = o.count_include_pad} {}

}  // namespace dnn
