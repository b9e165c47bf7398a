#include <kernels/cpu/cpu.h>
#include <kernels/host_memory.h>

namespace dnn::cpu {

Backend make_backend(const std::string& name) {
  Backend row;
  row.name = name;
  row.device = host_memory();
  Kernels<float>& k = row.f32;
  k.gemm.run = gemm;
  k.gemm_pack_b.run = gemm_pack_b;
  k.gemm_packed_b.run = gemm_packed_b;
  k.conv2d_forward.run = conv2d_forward;
  k.conv2d_pack_weight.run = conv2d_pack_weight;
  k.conv2d_forward_packed.run = conv2d_forward_packed;
  k.conv2d_backward_input.run = conv2d_backward_input;
  k.max_pool2d_forward.run = max_pool2d_forward;
  k.max_pool2d_backward.run = max_pool2d_backward;
  k.avg_pool2d_forward.run = avg_pool2d_forward;
  k.avg_pool2d_backward.run = avg_pool2d_backward;
  k.adaptive_avg_pool2d_forward.run = adaptive_avg_pool2d_forward;
  k.adaptive_avg_pool2d_backward.run = adaptive_avg_pool2d_backward;
  k.scale_channels_forward.run = scale_channels_forward;
  k.scale_channels_backward.run = scale_channels_backward;
  k.upsample_nearest2d_forward.run = upsample_nearest2d_forward;
  k.upsample_nearest2d_backward.run = upsample_nearest2d_backward;
  k.upsample_bilinear2d_forward.run = upsample_bilinear2d_forward;
  k.upsample_bilinear2d_backward.run = upsample_bilinear2d_backward;
  k.pad2d.run = pad2d;
  k.epilogue.run = epilogue;
  k.epilogue_backward.run = epilogue_backward;
  k.activation_forward.run = activation_forward;
  k.activation_backward.run = activation_backward;
  k.lrn_forward.run = lrn_forward;
  k.lrn_backward.run = lrn_backward;
  k.power_forward.run = power_forward;
  k.power_backward.run = power_backward;
  k.prelu_forward.run = prelu_forward;
  k.prelu_backward.run = prelu_backward;
  k.batch_norm_forward.run = batch_norm_forward;
  k.batch_norm_backward.run = batch_norm_backward;
  k.softmax_forward.run = softmax_forward;
  k.softmax_backward.run = softmax_backward;
  k.log_softmax_forward.run = log_softmax_forward;
  k.log_softmax_backward.run = log_softmax_backward;
  k.softmax_cross_entropy.run = softmax_cross_entropy;
  k.nll_loss.run = nll_loss;
  k.pointwise_loss.run = pointwise_loss;
  k.argmax.run = argmax;
  k.add.run = add;
  k.sub.run = sub;
  k.mul.run = mul;
  k.div.run = div;
  k.gather_pixels.run = gather_pixels;
  k.sum.run = sum;
  k.transpose.run = transpose;
  k.copy_rows.run = copy_rows;
  k.dropout.run = dropout;
  k.fill_constant.run = fill_constant;
  k.fill_uniform.run = fill_uniform;
  k.fill_normal.run = fill_normal;
  k.sgd_step.run = sgd_step;
  k.conv2d_backward_weight.run = conv2d_backward_weight;
  k.shared_conv2d_forward.run = shared_conv2d_forward;
  k.shared_conv2d_backward_input.run = shared_conv2d_backward_input;
  k.shared_conv2d_backward_weight.run = shared_conv2d_backward_weight;
  return row;
}

}  // namespace dnn::cpu
