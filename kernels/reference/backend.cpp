#include <kernels/host_memory.h>
#include <kernels/reference/activation.h>
#include <kernels/reference/reference.h>

namespace dnn::reference {
namespace {

template <class T>
void fill_table(Kernels<T>& k) {
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
