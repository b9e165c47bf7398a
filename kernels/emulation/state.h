#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include <cuda_runtime.h>

// What the parts of the model tell each other.
namespace emu {

// One lock for all of it: host threads take turns, and what a stream runs, runs with the lock held.
std::recursive_mutex& model_mutex();

// report.cpp. A fault is counted, the first one kept as text and printed. `error` becomes the sticky error of the
// process unless it is cudaSuccess.
void fault(cudaError_t error, const char* format, ...) __attribute__((format(printf, 2, 3)));
// The error of a call that was refused, without a fault: returned as it is, and kept for cudaGetLastError.
cudaError_t refuse(cudaError_t error);
bool has_sticky_error();
cudaError_t sticky_error();  // or cudaSuccess
void clear_errors();         // the sticky one and the last: the device was reset
std::string kernel_name(const void* kernel);
std::string mangled_name(const void* function);    // empty where the program's symbols do not have it
std::string block_name();                          // "(1, 0, 0)", of the running block
std::string source_place(uintptr_t code_address);  // "file:line" where the program has debug information
struct SourceLine {
  std::string file;
  int line = 0;
};
SourceLine source_line(uintptr_t code_address);

// Where the running thread is, for the checker.
struct Position {
  int thread = -1;        // in its block; -1 outside of kernels
  uint64_t block = 0;     // as current_block
  uint64_t launch = 0;    // counted from 1
  uint32_t barriers = 0;  // that the block has passed
  const std::byte* arguments = nullptr;
  size_t argument_bytes = 0;
  const void* kernel = nullptr;
  unsigned threads = 0;  // of a block
  int device = 0;        // of the launch
};
extern Position position;

// Whether the code of a kernel runs, whose loads and stores are checked, and not what the model does for it. That has
// to be told: of inline functions, those of the standard library too, a program has one copy, which may be a kernel
// source's, compiled to be checked.
extern bool kernel_code_runs;
class ModelCode {
 public:
  ModelCode() : before_(kernel_code_runs) { kernel_code_runs = false; }
  ~ModelCode() { kernel_code_runs = before_; }
  ModelCode(const ModelCode&) = delete;
  ModelCode& operator=(const ModelCode&) = delete;

 private:
  bool before_;
};

bool on_stack_of_running_thread(const void*);
bool on_stack_of_any_thread(const void*);
struct Range {
  const std::byte *begin, *end;
  bool contains(const void* data, size_t bytes = 1) const {
    const auto* const at = static_cast<const std::byte*>(data);
    return begin <= at && at + bytes <= end;
  }
};
Range dynamic_shared_range();
// signals.cpp. An access to what is not mapped becomes a fault in a kernel, and a message on the host. To be called
// often: test frameworks set handlers of their own.
void watch_signals();
// From a thread of a kernel, after a fault that leaves it nothing to go on with: its block is dropped, and the launch
// ends.
[[noreturn]] void abandon_block();
bool is_model_state(const void*);  // indices, meetings: what the model itself keeps for kernels to read

// heap.cpp. A device's memory is mapped where only kernels find it; the address that the host is given faults. Both are
// `device_view_offset` apart.
struct Allocation {
  uintptr_t begin;  // as the host knows it
  size_t bytes;
  int device;
  bool live;
};
bool is_host_view(const void*);    // an address that the host is given
bool is_device_view(const void*);  // where kernels find it
int device_of(const void* host_view);
void* device_view(const void* host_view);
const void* host_view(const void* device_view);
// The allocation, live or freed, that begins at or before the address; null where there is none.
const Allocation* find_allocation(const void* host_view);
// A fault unless the bytes lie in one live allocation of the device.
bool check_range(const void* host_view, size_t bytes, int device, const char* what);
// Every aligned word among the bytes that is an address of device memory becomes the one that kernels use.
void translate_pointers(void* data, size_t bytes);

// device.cpp
int current_device();
// What each call returns at once: the sticky error, or that there is no device. cudaSuccess otherwise.
cudaError_t device_error();

// stream.cpp
int device_of_stream(cudaStream_t);  // of the null stream the current one; -1 where the handle is no stream
// Runs later, or now if streams are eager; not at all once an error is sticky.
void enqueue(cudaStream_t, std::function<void()>);

// checker/: no more than a word each in the other builds.
void checker_launch_begins();  // position has the launch, its kernel and device, and its threads
void checker_block_begins();
void checker_block_ends();
void checker_launch_ends();
void checker_warp_meets(int warp, unsigned mask, bool orders_memory);  // all of mask are there; __syncwarp orders
void checker_allocated(const Allocation&);                             // uninitialized from now on
void checker_freed(const Allocation&);                                 // when the stream gets there
void checker_written(const void* device_view, size_t bytes);           // by a copy or a fill
void checker_shared_begins(const void* data, size_t bytes, const char* name);  // a block's variable, not written yet

}  // namespace emu
