#pragma once
#include <string>

#include <libdnn/core/allocator.h>

namespace dnn {

// Where a tensor lives and is computed: "cpu" (the best row this machine has), "reference" (plain loops, also double),
// "meta" (shapes only), or a row by its name, "cpu_avx2". Cheap to copy.
class Device {
 public:
  Device(const std::string& name);  // throws Error where there is none such
  Device(const char* name) : Device(std::string(name)) {}

  const std::string& name() const;
  const Backend& backend() const;
  Allocator& allocator() const;

  friend bool operator==(const Device& a, const Device& b) { return a.state_ == b.state_; }

 private:
  struct State;
  State* state_;
};

// The device of tensors and modules made without naming one: "cpu" at first.
Device default_device();
void set_default_device(const Device& device);

MemoryStats memory_stats(const Device& device = default_device());

// The calling thread's context for kernels of a backend, made at its first use.
Context& thread_context(const Backend& backend);

}  // namespace dnn
