#pragma once
#include <cstdint>

#include <kernels/host_device.h>

namespace dnn {

enum class LabelOp : int32_t { none, cross_entropy, nll_loss };

// The first fault that kernels met and can't report themselves: a word in their device's memory, all zeros while there
// is none. A kernel sets it only where nothing is set. While it is set, the kernels of optimizers do nothing.
struct DeviceStatus {
  LabelOp op = LabelOp::none;      // whose label was neither ignored nor in [0, classes)
  int32_t label = 0, classes = 0;  // that label
  int32_t padding = 0;
  int64_t row = 0;   // its row
  int64_t step = 0;  // whose loss was not finite: its number, from 1; 0: none
  double loss = 0;   // that loss

  DNN_HOST_DEVICE bool ok() const { return op == LabelOp::none && step == 0; }
  DNN_HOST_DEVICE void set_label(LabelOp which, int64_t at, int32_t bad, int32_t count) {
    if (!ok()) return;
    op = which;
    row = at;
    label = bad;
    classes = count;
  }
  DNN_HOST_DEVICE void set_loss(int64_t number, double value) {
    if (!ok()) return;
    step = number;
    loss = value;
  }
};

// What the batches of an epoch add up to, on their device.
struct BatchSums {
  double loss = 0;  // of all samples
  int64_t correct = 0;
};

}  // namespace dnn
