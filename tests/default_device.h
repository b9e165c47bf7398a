#pragma once
#include <string>

#include <libdnn/core/device.h>

namespace dnn::test {

// The device on which tests compute in double.
inline std::string& exact_device() {
  static std::string name = "reference";
  return name;
}

// Sets the device of new tensors and modules until it ends; DefaultDevice on("reference") is for exact_device().
class DefaultDevice {
 public:
  explicit DefaultDevice(const Device& device) : before_(default_device()) { set_default_device(device); }
  explicit DefaultDevice(const char* device)
      : DefaultDevice(Device(device == std::string("reference") ? exact_device() : device)) {}
  ~DefaultDevice() { set_default_device(before_); }
  DefaultDevice(const DefaultDevice&) = delete;
  DefaultDevice& operator=(const DefaultDevice&) = delete;

 private:
  Device before_;
};

}  // namespace dnn::test
