#pragma once
#include <kernels/context.h>
#include <kernels/device_status.h>
#include <libdnn/core/tensor.h>

namespace dnn {

// Faults that kernels meet in the data are kept in the device's memory (kernels/device_status.h): a host row tells them
// at once, another device when something is copied from it to the host.

// After a kernel that looks at labels: Error for a bad one, "[cross_entropy] label 12 of sample 3 is outside 0..9", now
// or later.
void check_labels(Context& context);

// With a copy to the host: the same, where such a kernel was called since the last time.
void check_pending_labels(Context& context);

// What the thread's kernels on the device have met, read now; Error for a bad label.
DeviceStatus read_status(const Device& device);

// The thread's kernels on the device report to a status of its own until this ends: of one training, one evaluation.
class ScopedStatus {
 public:
  explicit ScopedStatus(const Device& device);
  ~ScopedStatus();
  ScopedStatus(const ScopedStatus&) = delete;
  ScopedStatus& operator=(const ScopedStatus&) = delete;

 private:
  Tensor memory_;
  Context& context_;
  DeviceStatus* const before_;
  const bool pending_before_;
};

}  // namespace dnn
