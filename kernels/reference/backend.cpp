#include <kernels/host_memory.h>
#include <kernels/reference/activation.h>
#include <kernels/reference/conv2d.h>
#include <kernels/reference/gemm.h>
#include <kernels/reference/reference.h>
#include <kernels/reference/shared_conv2d.h>

namespace dnn::reference {
namespace {

template <class T>
void fill_table(Kernels<T>& k) {
  k.gemm.run = gemm<T>;
  k.conv2d_forward.run = conv2d_forward<T>;
  k.conv2d_backward_input.run = conv2d_backward_input<T>;
  k.conv2d_backward_weight.run = conv2d_backward_weight<T>;
  k.shared_conv2d_forward.run = shared_conv2d_forward<T>;
  k.shared_conv2d_backward_input.run = shared_conv2d_backward_input<T>;
  k.shared_conv2d_backward_weight.run = shared_conv2d_backward_weight<T>;
  k.activation_forward.run = activation_forward<T>;
  k.activation_backward.run = activation_backward<T>;
}

}  // namespace

Backend make_backend() {
  Backend row;
  row.name = "reference";
  row.device = host_memory();
  fill_table(row.f32);
  fill_table(row.f64);
  return row;
}

}  // namespace dnn::reference
