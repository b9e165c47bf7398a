#pragma once
#include <kernels/device_api.h>

namespace dnn::cuda {

int device_count();  // 0 where the driver is missing
DeviceApi device_api();

}  // namespace dnn::cuda
