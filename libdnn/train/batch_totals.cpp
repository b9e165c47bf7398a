#include <libdnn/train/batch_totals.h>

#include <cstring>

#include <libdnn/core/dispatch.h>

namespace dnn {

BatchTotals::BatchTotals(const Device& device)
    : device_(device),
      status_(device),
      device_sums_(zeros({static_cast<int>(sizeof(BatchSums))}, DType::uint8, device)) {}

void BatchTotals::add(int64_t number, const Tensor& loss, const Tensor& scores, const Tensor& labels) {
  const RowsShape shape{scores.size(0), scores.size(1)};
  run_kernel("batch_metrics", {&scores, &loss}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.batch_metrics(context, shape, number, loss.data<T>(), scores.data<T>(), labels.data<int32_t>(),
                    static_cast<BatchSums*>(device_sums_.raw_data()));
  });
  sums_.samples += shape.rows;
  read_ = false;
}

bool BatchTotals::known_at_once() const { return device_.backend().device.host_memory; }

const Evaluation& BatchTotals::read() {
  if (read_) return sums_;
  const std::vector<uint8_t> bytes = device_sums_.to_vector<uint8_t>();
  BatchSums sums;
  std::memcpy(&sums, bytes.data(), sizeof sums);
  sums_.loss_sum = sums.loss;
  sums_.correct = sums.correct;
  read_ = true;
  return sums_;
}

}  // namespace dnn
