#pragma once
#include <libdnn/core/device.h>

namespace dnn::test {

// Sets the device of new tensors and modules until it ends.
class DefaultDevice {
 public:
  explicit DefaultDevice(const Device& device) : before_(default_device()) { set_default_device(device); }
  ~DefaultDevice() { set_default_device(before_); }
  DefaultDevice(const DefaultDevice&) = delete;
  DefaultDevice& operator=(const DefaultDevice&) = delete;

 private:
  Device before_;
};

}  // namespace dnn::test
