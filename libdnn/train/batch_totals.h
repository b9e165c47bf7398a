#pragma once
#include <libdnn/core/device_status.h>
#include <libdnn/train/evaluate.h>

namespace dnn {

// The sums of an epoch's batches on their device. Nothing waits for the device until they are read. While this lives,
// the thread's kernels on the device report to a status of its own.
class BatchTotals {
 public:
  explicit BatchTotals(const Device& device);

  // `number` counts from 1; a loss that is not finite is known by it.
  void add(int64_t number, const Tensor& loss, const Tensor& scores, const Tensor& labels);
  int64_t samples() const { return sums_.samples; }

  // What there is to know costs nothing: the row computes in host memory, and has ended.
  bool known_at_once() const;
  // The first batch whose loss is not finite, if any; Error for a bad label.
  DeviceStatus fault() const { return read_status(device_); }
  const Evaluation& read();

 private:
  Device device_;
  ScopedStatus status_;
  Tensor device_sums_;
  Evaluation sums_;
  bool read_ = true;
};

}  // namespace dnn
