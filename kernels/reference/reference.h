#pragma once
#include <kernels/backend.h>

namespace dnn::reference {

// The row "reference": plain loops, float and double. The readable definition of every kernel, and what the other rows
// are compared with.
Backend make_backend();

}  // namespace dnn::reference
