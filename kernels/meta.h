#pragma once
#include <kernels/backend.h>

namespace dnn::meta {

// The row "meta": kernels that do nothing on memory that isn't there. Running a step on it gives every shape and the
// memory a device would need. Reading a value back throws Error.
Backend make_backend();

}  // namespace dnn::meta
