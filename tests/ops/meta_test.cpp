#include "ops_test.h"

#include <libdnn/core/allocator.h>
#include <libdnn/ops/ops.h>

namespace dnn::test {
namespace {

// A step of a small net that has every kind of operation.
Tensor step(const std::string& device, const TensorList& in) {
  const Tensor labels({2}, DType::int32, device);
  if (device != "meta") labels.copy_from(from_vector<int32_t>({1, 3}, {2}, device));
  const Tensor first = conv2d(in[0], in[1], in[2], {.padding = {1, 1, 1, 1}, .activation = Activation::relu});
  const Tensor pooled = max_pool2d(first, {.window = {2, 2}});
  const Tensor excited = scale_channels(pooled, sigmoid(adaptive_avg_pool2d(pooled, {1, 1})));
  const Tensor resized = upsample_bilinear(upsample_nearest(pad2d(excited, {1, 0, -1, 0}), {5, 9}), {2, 2});
  const Tensor enlarged = conv_transpose2d(resized, in[6], in[2], {.stride = {2, 2}, .activation = Activation::relu});
  const Tensor shared = shared_conv2d(enlarged, in[3], Tensor());
  const Tensor joined = concat({shared, avg_pool2d(pooled, {.window = {2, 2}, .stride = {1, 1}})}, -1);
  const Tensor scaled = sigmoid(joined) * mean(joined, {1, 2}, true) + 1.0;
  const TensorList halves = split(scaled, {4, 4}, -1);
  const Tensor features = dropout(flatten(halves[0] - halves[1]), 0.5);
  const Tensor scores = linear(features, in[4], in[5]);
  return cross_entropy(scores, labels) + nll_loss(log_softmax(scores), labels) + mse_loss(scores, scores.detach());
}

TEST_CASE("ops on meta: a step has the shapes and the memory of a real one", "[ops]") {
  const std::vector<Shape> shapes{{2, 8, 8, 3}, {4, 3, 3, 3}, {4}, {1, 2, 2, 1}, {5, 36}, {5}, {4, 2, 2, 4}};
  std::vector<int64_t> peaks;
  for (const std::string& device : {std::string("reference"), std::string("meta")}) {
    INFO(device);
    TensorList in;
    for (size_t i = 0; i < shapes.size(); ++i) {
      in.push_back(from_vector(std::vector<float>(static_cast<size_t>(shapes[i].numel()), 0.1f), shapes[i], device));
      if (i > 0) in[i].requires_grad(true);
    }
    const Device on = device;
    on.allocator().reset_peak();
    const int64_t before = memory_stats(on).allocated_bytes;
    const Tensor loss = step(device, in);
    CHECK(loss.shape() == Shape{});
    loss.backward();
    peaks.push_back(memory_stats(on).peak_bytes - before);
    CHECK_FALSE(in[0].grad().defined());
    for (size_t i = 1; i < in.size(); ++i) {
      INFO("gradient " << i);
      CHECK(in[i].grad().shape() == shapes[i]);
    }
  }
  CHECK(peaks[0] == peaks[1]);
}

}  // namespace
}  // namespace dnn::test
