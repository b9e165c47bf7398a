#pragma once
#include <cstdint>

// A device that behaves as CUDA's do, of the reference's kernels: the row "fake" with two devices. Kernels and copies
// run late, when the host waits for a stream, in any order that streams and events allow. The host can't touch the
// memory: that faults. Kernels get their parameters as they were at the call, and refuse pointers to other memory.
namespace dnn::test {

void add_fake_device();  // makes the row known

int64_t fake_synchronizations();  // how often the host has waited for a stream
int64_t fake_waiting();           // kernels and copies that were queued and have not run

}  // namespace dnn::test
