#include <kernels/cpu/cpu.h>
#include <kernels/host_memory.h>

namespace dnn::cpu {

Backend make_backend(const std::string& name, Isa isa) {
  Backend row;
  row.name = name;
  row.isa = isa;
  row.device = host_memory();
  Kernels<float>& k = row.f32;
  k.gemm.run = gemm;
  k.activation_forward.run = activation_forward;
  k.activation_backward.run = activation_backward;
  k.conv2d_forward.run = conv2d_forward;
  k.conv2d_backward_input.run = conv2d_backward_input;
  k.gather_pixels.run = gather_pixels;
  return row;
}

}  // namespace dnn::cpu
