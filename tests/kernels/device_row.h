#pragma once
#include <cstddef>

#include <kernels/backend.h>

namespace dnn::test {

// Host memory that tests give to kernels, as long as the object lives.
class KernelOperand {
 public:
  KernelOperand();
  KernelOperand(const KernelOperand&) : KernelOperand() {}
  KernelOperand& operator=(const KernelOperand&) { return *this; }

  virtual std::byte* begin() = 0;
  virtual size_t bytes() const = 0;

 protected:
  ~KernelOperand();
};

// The row of a device with its own memory as tests of kernels use it: a call takes operands on the host, copies each to
// the device as a whole, guard words included, runs the kernel, and copies back what the kernel may write.
Backend with_host_operands(const Backend& row);

}  // namespace dnn::test
