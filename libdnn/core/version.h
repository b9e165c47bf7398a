#pragma once
#include <kernels/openblas.h>

namespace dnn {

const char* version();  // "0.1.0"

}  // namespace dnn
