#include <kernels/cpu/cpu.h>
#include <kernels/host_memory.h>

namespace dnn::cpu {

Backend make_backend(const std::string& row_name) {
  Backend row;
  row.name = row_name;
  row.device = host_memory();
#define DNN_FILL(name, ...) row.f32.name.run = name;
  DNN_KERNELS(DNN_FILL, float)
  DNN_PLANS(DNN_FILL)
#undef DNN_FILL
#define DNN_FILL(name, ...) row.raw.name.run = name;
  DNN_RAW_KERNELS(DNN_FILL)
#undef DNN_FILL
  return row;
}

}  // namespace dnn::cpu
