#include <libdnn/layers/batch_norm2d.h>

#include <fmt/format.h>

#include <libdnn/ops/check.h>

namespace dnn {
namespace {

void increment(const Tensor& counter) {
  const int32_t count = counter.to_vector<int32_t>()[0];
  counter.copy_from(from_vector<int32_t>({count + 1}, {}, counter.device()));
}

}  // namespace

BatchNorm2d::BatchNorm2d(const Options& o) : options_(o) {
  if (o.num_features < 1) {
    throw Error(fmt::format("[batch_norm] needs at least one channel; got num_features {}", o.num_features));
  }
  check_batch_norm(o.eps, o.momentum);
  check_activation("batch_norm", o.activation);
  const Shape channels{o.num_features};
  if (o.affine) {
    add_parameter("weight", ones(channels));
    add_parameter("bias", zeros(channels));
  }
  if (o.track_running_stats) {
    add_buffer("running_mean", zeros(channels));
    add_buffer("running_var", ones(channels));
    add_host_buffer("num_batches_tracked", zeros({}, DType::int32, "cpu"));
  }
}

Tensor BatchNorm2d::forward_fused(const Tensor& x, Activation activation, const Tensor& residual) {
  if (x.dims() != 4 || x.size(3) != options_.num_features) {
    throw Error(fmt::format("[batch_norm] x must be (N, H, W, {}); got {}{}", options_.num_features, x.shape().str(),
                            layout_hint(x.shape(), options_.num_features)));
  }
  const bool tracked = options_.track_running_stats;
  const BatchNormOptions options{
      .training = training() || !tracked, .momentum = options_.momentum, .eps = options_.eps, .activation = activation};
  Tensor y = batch_norm(x, tracked ? buffer("running_mean") : Tensor(), tracked ? buffer("running_var") : Tensor(),
                        parameter_or_none("weight"), parameter_or_none("bias"), options, residual);
  if (tracked && training() && x.numel() > 0) increment(buffer("num_batches_tracked"));
  return y;
}

}  // namespace dnn
