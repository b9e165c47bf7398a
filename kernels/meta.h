#pragma once
#include <cstdint>

#include <kernels/backend.h>

namespace dnn {

// The floating-point operations of the kernels that this thread has called on "meta" so far: what the products and
// convolutions and poolings of a step come to.
double meta_flops();

namespace meta {

// The row "meta": kernels that do nothing on memory that isn't there. Running a step on it gives every shape, the
// memory a device would need, and meta_flops(). Reading a value back throws Error.
Backend make_backend();

}  // namespace meta
}  // namespace dnn
