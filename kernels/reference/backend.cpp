#include <kernels/host_memory.h>
#include <kernels/reference/activation.h>
#include <kernels/reference/adaptive_pool2d.h>
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
#include <kernels/reference/power.h>
#include <kernels/reference/prelu.h>
#include <kernels/reference/random.h>
#include <kernels/reference/reference.h>
#include <kernels/reference/scale_channels.h>
#include <kernels/reference/sgd_step.h>
#include <kernels/reference/shared_conv2d.h>
#include <kernels/reference/softmax.h>
#include <kernels/reference/sum.h>
#include <kernels/reference/upsample2d.h>

namespace dnn::reference {
namespace {

template <class T>
void fill_table(Kernels<T>& k) {
  k.gemm.run = gemm<T>;
  k.gemm_pack_b.run = gemm_pack_b<T>;
  k.gemm_packed_b.run = gemm_packed_b<T>;
  k.conv2d_forward.run = conv2d_forward<T>;
  k.conv2d_pack_weight.run = conv2d_pack_weight<T>;
  k.conv2d_forward_packed.run = conv2d_forward_packed<T>;
  k.conv2d_backward_input.run = conv2d_backward_input<T>;
  k.conv2d_backward_weight.run = conv2d_backward_weight<T>;
  k.shared_conv2d_forward.run = shared_conv2d_forward<T>;
  k.shared_conv2d_backward_input.run = shared_conv2d_backward_input<T>;
  k.shared_conv2d_backward_weight.run = shared_conv2d_backward_weight<T>;
  k.max_pool2d_forward.run = max_pool2d_forward<T>;
  k.max_pool2d_backward.run = max_pool2d_backward<T>;
  k.avg_pool2d_forward.run = avg_pool2d_forward<T>;
  k.avg_pool2d_backward.run = avg_pool2d_backward<T>;
  k.adaptive_avg_pool2d_forward.run = adaptive_avg_pool2d_forward<T>;
  k.adaptive_avg_pool2d_backward.run = adaptive_avg_pool2d_backward<T>;
  k.scale_channels_forward.run = scale_channels_forward<T>;
  k.scale_channels_backward.run = scale_channels_backward<T>;
  k.upsample_nearest2d_forward.run = upsample_nearest2d_forward<T>;
  k.upsample_nearest2d_backward.run = upsample_nearest2d_backward<T>;
  k.upsample_bilinear2d_forward.run = upsample_bilinear2d_forward<T>;
  k.upsample_bilinear2d_backward.run = upsample_bilinear2d_backward<T>;
  k.pad2d.run = pad2d<T>;
  k.epilogue.run = epilogue<T>;
  k.epilogue_backward.run = epilogue_backward<T>;
  k.activation_forward.run = activation_forward<T>;
  k.activation_backward.run = activation_backward<T>;
  k.lrn_forward.run = lrn_forward<T>;
  k.lrn_backward.run = lrn_backward<T>;
  k.power_forward.run = power_forward<T>;
  k.power_backward.run = power_backward<T>;
  k.prelu_forward.run = prelu_forward<T>;
  k.prelu_backward.run = prelu_backward<T>;
  k.batch_norm_forward.run = batch_norm_forward<T>;
  k.batch_norm_backward.run = batch_norm_backward<T>;
  k.softmax_forward.run = softmax_forward<T>;
  k.softmax_backward.run = softmax_backward<T>;
  k.log_softmax_forward.run = log_softmax_forward<T>;
  k.log_softmax_backward.run = log_softmax_backward<T>;
  k.softmax_cross_entropy.run = softmax_cross_entropy<T>;
  k.nll_loss.run = nll_loss<T>;
  k.pointwise_loss.run = pointwise_loss<T>;
  k.argmax.run = argmax<T>;
  k.add.run = add<T>;
  k.sub.run = sub<T>;
  k.mul.run = mul<T>;
  k.div.run = div<T>;
  k.sum.run = sum<T>;
  k.transpose.run = transpose<T>;
  k.copy_rows.run = copy_rows<T>;
  k.dropout.run = dropout<T>;
  k.fill_constant.run = fill_constant<T>;
  k.fill_uniform.run = fill_uniform<T>;
  k.fill_normal.run = fill_normal<T>;
  k.sgd_step.run = sgd_step<T>;
  k.gather_pixels.run = gather_pixels<T>;
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
