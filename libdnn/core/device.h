#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dnn {

struct Backend;
struct Context;
class Allocator;
class WorkspaceMemory;

// Where a tensor lives and is computed: a row and the number of one of its devices. "cpu" (the best row this machine
// has), "reference" (plain loops, also double), "meta" (shapes only), a row by its name, "cpu_avx2", or "cuda:1".
// Without a number the first. Cheap to copy.
class Device {
 public:
  Device(const std::string& name);  // throws Error where there is none such
  Device(const char* name) : Device(std::string(name)) {}

  const std::string& name() const;
  const std::string& row() const;  // "cpu_avx2" where the name is "cpu"
  const Backend& backend() const;
  int ordinal() const;
  Allocator& allocator() const;
  WorkspaceMemory& workspace_memory() const;  // of its contexts, from the allocator

  friend bool operator==(const Device& a, const Device& b) { return a.state_ == b.state_; }

 private:
  struct State;
  State* state_;
};

// What `dnn info` lists.
struct DeviceRow {
  std::string name;
  int devices = 0;                  // how many of them there are
  std::string unavailable_because;  // "needs AVX2, which this CPU lacks"; empty where it can be used
  bool is_cpu = false;              // "cpu" stands for this row
  std::string description;          // of the first device
};
std::vector<DeviceRow> device_rows();

// The device of tensors and modules made without naming one: "cpu" at first.
Device default_device();
void set_default_device(const Device& device);

struct MemoryStats {
  int64_t allocated_bytes = 0;     // in live tensors, as they asked for
  int64_t peak_bytes = 0;          // the most of that since reset_peak()
  int64_t workspace_bytes = 0;     // held for the kernels' scratch
  int64_t reserved_bytes = 0;      // taken from the system for both, in use or cached
  int64_t limit_bytes = 0;         // of reserved_bytes; 0 where there is none
  int64_t system_allocations = 0;  // calls to the system's allocator
};

MemoryStats memory_stats(const Device& device = default_device());

// The most bytes that tensors and workspace may take from the system, cached memory included; 0 for no limit. A request
// beyond it gives cached memory back first, then throws Error.
void set_memory_limit(int64_t bytes, const Device& device = default_device());

// Returns when everything that was put into the device's compute stream is done.
void synchronize(const Device& device = default_device());

// The calling thread's context for kernels on a device, in its compute stream, made at its first use.
Context& thread_context(const Device& device);

}  // namespace dnn
