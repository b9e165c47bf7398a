#include <libdnn/core/dispatch.h>

#include <fmt/format.h>

namespace dnn::detail {

void check_operands(const char* op, std::initializer_list<const Tensor*> operands) {
  const Tensor& first = **operands.begin();
  for (const Tensor* other : operands) {
    if (!other->defined()) continue;
    if (!(other->device() == first.device())) {
      throw Error(fmt::format("[{}] operands must be on one device; got {} and {}", op, first.device().name(),
                              other->device().name()));
    }
    if (other->dtype() != first.dtype()) {
      throw Error(fmt::format("[{}] operands must have one dtype; got {} and {}", op, name_of(first.dtype()),
                              name_of(other->dtype())));
    }
  }
}

void check_float64(const char* op, const Device& device) {
  if (device.backend().f64.binary.run) return;  // a row has all of them or none
  throw Error(fmt::format("[{}] no float64 kernel on {}; the device reference has them", op, device.name()));
}

void throw_no_float(const char* op, DType dtype) {
  throw Error(fmt::format("[{}] computes float32 (float64 on reference); got {}", op, name_of(dtype)));
}

}  // namespace dnn::detail
