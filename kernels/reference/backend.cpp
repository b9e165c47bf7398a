#include <kernels/host_memory.h>
#include <kernels/reference/adaptive_pool2d.h>
#include <kernels/reference/along_axis.h>
#include <kernels/reference/batch_norm.h>
#include <kernels/reference/conv2d.h>
#include <kernels/reference/elementwise.h>
#include <kernels/reference/epilogue.h>
#include <kernels/reference/gather_pixels.h>
#include <kernels/reference/gemm.h>
#include <kernels/reference/layout.h>
#include <kernels/reference/loss.h>
#include <kernels/reference/lrn.h>
#include <kernels/reference/pad2d.h>
#include <kernels/reference/pool2d.h>
#include <kernels/reference/prelu.h>
#include <kernels/reference/random.h>
#include <kernels/reference/reduce.h>
#include <kernels/reference/reference.h>
#include <kernels/reference/scale_channels.h>
#include <kernels/reference/sgd_step.h>
#include <kernels/reference/shared_conv2d.h>
#include <kernels/reference/softmax.h>
#include <kernels/reference/unary.h>
#include <kernels/reference/upsample2d.h>

namespace dnn::reference {
namespace {

template <class T>
void fill_table(Kernels<T>& kernels) {
#define DNN_FILL(name, ...) kernels.name.run = name<T>;
  DNN_KERNELS(DNN_FILL, T)
#undef DNN_FILL
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
