#include <libdnn/layers/optimize_for_inference.h>

#include <cmath>
#include <map>
#include <set>
#include <typeinfo>

#include <libdnn/autograd/tape.h>
#include <libdnn/layers/activation.h>
#include <libdnn/layers/batch_norm2d.h>
#include <libdnn/layers/chain.h>
#include <libdnn/layers/packed_conv2d.h>
#include <libdnn/layers/packed_linear.h>

namespace dnn {
namespace {

// The module as an M, or null; a class derived from M may compute anything.
template <class M>
M* as(Module* module) {
  return typeid(*module) == typeid(M) ? static_cast<M*>(module) : nullptr;
}

// What a run showed of convolutions and batch norms.
struct Seen {
  std::map<Conv2d*, Shape> inputs;  // the first of each
  std::map<Conv2d*, std::set<Module*>> after;
  std::map<BatchNorm2d*, std::set<Module*>> before;
  std::map<Module*, int> calls, as_pair;  // all of them, and those as a part of such a pair
};

Seen run_and_see(Module& net, const Tensor& example) {
  Seen seen;
  ScopedHooks hooks;
  for (const NamedModule& entry : net.named_modules()) {
    hooks.add(entry.module->register_forward_pre_hook([&](Module& m, const TensorList& x) {
      ++seen.calls[&m];
      if (Conv2d* const conv = as<Conv2d>(&m)) seen.inputs.emplace(conv, x[0].shape());
    }));
  }
  const ChainObserver observer([&](Module& first, Module& second) {
    Conv2d* const conv = as<Conv2d>(&first);
    BatchNorm2d* const norm = as<BatchNorm2d>(&second);
    if (conv) seen.after[conv].insert(&second);
    if (norm) seen.before[norm].insert(&first);
    if (conv && norm) ++seen.as_pair[conv], ++seen.as_pair[norm];
  });
  net(example);
  return seen;
}

std::vector<double> values_or(const Tensor& tensor, double otherwise, int count) {
  if (!tensor.defined()) return std::vector<double>(static_cast<size_t>(count), otherwise);
  const std::vector<float> values = tensor.to_vector<float>();
  return {values.begin(), values.end()};
}

std::shared_ptr<Conv2d> fold(const Conv2d& conv, const BatchNorm2d& norm) {
  const int k = conv.options().out_channels;
  const std::vector<double> mean = values_or(norm.buffer("running_mean"), 0, k);
  const std::vector<double> var = values_or(norm.buffer("running_var"), 1, k);
  const std::vector<double> gamma = values_or(norm.parameter_or_none("weight"), 1, k);
  const std::vector<double> beta = values_or(norm.parameter_or_none("bias"), 0, k);
  const std::vector<double> bias = values_or(conv.parameter_or_none("bias"), 0, k);
  const Tensor& old = conv.parameter("weight");
  std::vector<float> weights = old.to_vector<float>(), biases;
  const size_t filter = weights.size() / static_cast<size_t>(k);
  for (size_t i = 0; i < static_cast<size_t>(k); ++i) {
    const double scale = gamma[i] / std::sqrt(var[i] + norm.options().eps);
    for (size_t j = i * filter; j < (i + 1) * filter; ++j) weights[j] = static_cast<float>(weights[j] * scale);
    biases.push_back(static_cast<float>((bias[i] - mean[i]) * scale + beta[i]));
  }
  Conv2d::Options options = conv.options();
  options.bias = true;
  options.activation = norm.options().activation;
  auto folded = std::make_shared<Conv2d>(options);
  folded->to(old.device());
  folded->parameter("weight").copy_from(from_vector(weights, old.shape(), old.device()));
  folded->parameter("bias").copy_from(from_vector(biases, {k}, old.device()));
  folded->eval();
  return folded;
}

// A folded convolution takes the place of the one that it is made from in `inputs` too.
void fold_norms(Module& net, Seen& seen) {
  for (const auto& [norm, before] : seen.before) {
    Conv2d* const conv = before.size() == 1 ? as<Conv2d>(*before.begin()) : nullptr;
    if (!conv || seen.after.at(conv).size() != 1 || !norm->options().track_running_stats || !conv->fuses()) continue;
    if (seen.calls.at(conv) != seen.as_pair.at(conv) || seen.calls.at(norm) != seen.as_pair.at(norm)) continue;
    const std::shared_ptr<Conv2d> folded = fold(*conv, *norm);
    auto input = seen.inputs.extract(conv);
    input.key() = folded.get();
    seen.inputs.insert(std::move(input));
    net.replace(*conv, folded);
    net.replace(*norm, std::make_shared<Identity>());
  }
}

// The net itself may be a single layer.
void pack_weights(std::shared_ptr<Module>& net, const std::map<Conv2d*, Shape>& inputs) {
  const auto replace = [&](const Module& old, const std::shared_ptr<Module>& by) {
    if (&old == net.get()) {
      net = by;
    } else {
      net->replace(old, by);
    }
  };
  for (const auto& [conv, input] : inputs) replace(*conv, std::make_shared<PackedConv2d>(*conv, input));
  for (const NamedModule& entry : net->named_modules()) {
    if (Linear* const linear = as<Linear>(entry.module)) replace(*linear, std::make_shared<PackedLinear>(*linear));
  }
}

}  // namespace

std::shared_ptr<Module> optimize_for_inference(const Module& net, const Tensor& example) {
  const NoGrad no_grad;
  std::shared_ptr<Module> copy = checked_clone(net);
  copy->eval();
  Seen seen = run_and_see(*copy, example);
  fold_norms(*copy, seen);
  pack_weights(copy, seen.inputs);
  copy->eval();  // the new parts too
  for (const Tensor& parameter : copy->parameters()) parameter.requires_grad(false);
  return copy;
}

}  // namespace dnn
