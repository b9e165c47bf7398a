#include <libdnn/train/evaluate.h>

#include <fmt/format.h>

#include <optional>

#include <libdnn/autograd/tape.h>
#include <libdnn/ops/argmax.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/train/batch_totals.h>
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

namespace {

// The batch is fetched once more: by the time that its loss is read, others have followed.
[[noreturn]] void throw_non_finite(Module& net, DataLoader& loader, const DeviceStatus& fault) {
  Batch batch;
  int64_t samples = 0;
  loader.start_epoch(0);
  for (int64_t number = 0; number < fault.step && loader.next(batch); ++number) samples += batch.labels.numel();
  throw Error(fmt::format("[evaluate] the loss is {} in batch {} of {}, samples {} to {} in the loader's order; {}",
                          fault.loss, fault.step, loader.batches(), samples - batch.labels.numel() + 1, samples,
                          describe_non_finite(net, batch.images)));
}

}  // namespace

Evaluation evaluate(Module& net, DataLoader& loader) {
  const NoGrad no_grad;
  const RestoreModes restore(net);
  net.eval();
  std::optional<BatchTotals> totals;
  const auto check = [&] {
    if (const DeviceStatus fault = totals->fault(); fault.step != 0) throw_non_finite(net, loader, fault);
  };
  Batch batch;
  loader.start_epoch(0);
  for (int64_t number = 1; loader.next(batch); ++number) {
    if (!totals) totals.emplace(batch.images.device());
    const Tensor scores = net(batch.images);
    totals->add(number, cross_entropy(scores, batch.labels), scores, batch.labels);
    if (totals->known_at_once()) check();
  }
  if (!totals) throw Error("[evaluate] the loader gives no batch to evaluate");
  check();
  return totals->read();
}

}  // namespace dnn
