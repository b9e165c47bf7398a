#include <libdnn/train/evaluate.h>

#include <fmt/format.h>

#include <cmath>

#include <libdnn/autograd/tape.h>
#include <libdnn/ops/argmax.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/train/non_finite.h>

namespace dnn {

void Evaluation::add(double mean_loss, int64_t batch_correct, int64_t batch_samples) {
  loss_sum += mean_loss * static_cast<double>(batch_samples);
  correct += batch_correct;
  samples += batch_samples;
}

int64_t count_correct(const Tensor& scores, const Tensor& labels) {
  check_dims("count_correct", "scores", scores, 2);
  check_shape("count_correct", "labels", labels, {scores.size(0)});
  const std::vector<int32_t> predicted = argmax(scores).to_vector<int32_t>(), wanted = labels.to_vector<int32_t>();
  int64_t correct = 0;
  for (size_t i = 0; i < wanted.size(); ++i) correct += predicted[i] == wanted[i] ? 1 : 0;
  return correct;
}

Evaluation evaluate(Module& net, DataLoader& loader) {
  const NoGrad no_grad;
  const RestoreModes restore(net);
  net.eval();
  Evaluation sums;
  Batch batch;
  loader.start_epoch(0);
  for (int64_t number = 1; loader.next(batch); ++number) {
    const Tensor scores = net(batch.images);
    const double loss = cross_entropy(scores, batch.labels).item();
    const int64_t samples = batch.labels.numel();
    if (!std::isfinite(loss)) {
      throw Error(fmt::format("[evaluate] the loss is {} in batch {} of {}, samples {} to {} in the loader's order; {}",
                              loss, number, loader.batches(), sums.samples + 1, sums.samples + samples,
                              describe_non_finite(net, batch.images)));
    }
    sums.add(loss, count_correct(scores, batch.labels), samples);
  }
  if (sums.samples == 0) throw Error("[evaluate] the loader gives no batch to evaluate");
  return sums;
}

}  // namespace dnn
