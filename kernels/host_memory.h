#pragma once
#include <kernels/backend.h>

namespace dnn {

// Ordinary memory, for every row that computes on the CPU. Fresh memory is not zeroed.
DeviceApi host_memory();

}  // namespace dnn
