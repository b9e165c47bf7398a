#pragma once
#include <initializer_list>

#include <kernels/backend.h>
#include <libdnn/core/tensor.h>

namespace dnn {

namespace detail {
void check_one_device(const char* op, std::initializer_list<const Tensor*> operands);
void check_operands(const char* op, std::initializer_list<const Tensor*> operands);
[[noreturn]] void throw_no_float(const char* op, DType dtype);
void check_float64(const char* op, const Device& device);  // Error where it computes float32 alone
}  // namespace detail

// An optional operand for a kernel: null where the tensor is undefined.
template <class T>
T* data_or_null(const Tensor& tensor) {
  return tensor.defined() ? tensor.data<T>() : nullptr;
}

// Runs f(kernels, context) with the kernel table of the operands' device and number type:
//   run_kernel("relu", {&x, &y}, [&]<class T>(const Kernels<T>& k, Context& context) {
//     k.unary_forward(context, Activation::relu, x.numel(), x.data<T>(), y.data<T>());
//   });
// Error where the operands differ in device or dtype, or hold no floats; undefined ones but the first are passed over.
template <class F>
void run_kernel(const char* op, std::initializer_list<const Tensor*> operands, F&& f) {
  detail::check_operands(op, operands);
  const Tensor& first = **operands.begin();
  const Device device = first.device();
  const Backend& backend = device.backend();
  Context& context = thread_context(device);
  switch (first.dtype()) {
    case DType::float32:
      return f(backend.f32, context);
    case DType::float64:
      detail::check_float64(op, device);
      return f(backend.f64, context);
    default:
      break;
  }
  detail::throw_no_float(op, first.dtype());
}

// Runs f(kernels, context) with the kernels of the operands' device that move elements of any type. Error where the
// operands differ in device; undefined ones but the first are passed over.
template <class F>
void run_raw_kernel(const char* op, std::initializer_list<const Tensor*> operands, F&& f) {
  detail::check_one_device(op, operands);
  const Device device = (**operands.begin()).device();
  f(device.backend().raw, thread_context(device));
}

}  // namespace dnn
