#include <libdnn/layers/head_losses.h>

#include <fmt/format.h>

#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/cross_entropy.h>

namespace dnn {

HeadLosses head_losses(Module& net, const Tensor& x, const Tensor& labels) {
  const TensorList heads = net.heads(x);
  HeadLosses result;
  result.weights = net.head_weights();
  if (heads.empty() || heads.size() > result.weights.size()) {
    throw Error(fmt::format("[head_losses] {} needs a weight for each head; got {} heads and {} weights",
                            net.type_name(), heads.size(), result.weights.size()));
  }
  result.scores = heads.front();
  result.weights.resize(heads.size());
  for (size_t i = 0; i < heads.size(); ++i) {
    const double weight = result.weights[i];
    result.losses.push_back(cross_entropy(heads[i], labels));
    const Tensor part = weight == 1 ? result.losses.back() : result.losses.back() * weight;
    result.total = i == 0 ? part : result.total + part;
  }
  return result;
}

}  // namespace dnn
