#include <libdnn/measure/summary.h>

#include <kernels/meta.h>
#include <libdnn/autograd/tape.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/optim/sgd.h>

namespace dnn {
namespace {

int64_t bytes_of(const Tensor& t) { return t.numel() * size_of(t.dtype()); }

int64_t own_parameters(const Module& module) {
  int64_t count = 0;
  for (const NamedTensor& p : module.named_parameters()) {
    if (p.name.find('.') == std::string::npos) count += p.tensor.numel();
  }
  return count;
}

// Runs the net once in eval() mode and notes each module's result.
std::vector<LayerSummary> run_layers(Module& net, const Tensor& x) {
  std::vector<LayerSummary> layers;
  std::vector<std::pair<size_t, double>> open;  // line and flops at the beginning of the modules under way
  std::vector<HookHandle> hooks;
  for (const NamedModule& entry : net.named_modules()) {
    const auto begin = [&, name = entry.name](Module& m, const TensorList&) {
      LayerSummary line;
      line.name = name;
      line.type = m.type_name();
      line.depth = static_cast<int>(open.size());
      line.parameters = own_parameters(m);
      open.emplace_back(layers.size(), meta_flops());
      layers.push_back(std::move(line));
    };
    const auto end = [&](Module&, const TensorList&, const Tensor& y) {
      LayerSummary& line = layers[open.back().first];
      line.output = y.shape();
      line.output_bytes = bytes_of(y);
      line.flops = meta_flops() - open.back().second;
      open.pop_back();
    };
    hooks.push_back(entry.module->register_forward_pre_hook(begin));
    hooks.push_back(entry.module->register_forward_hook(end));
  }
  net(x);
  for (HookHandle& hook : hooks) hook.remove();
  return layers;
}

Tensor total_loss(Module& net, const Tensor& x, const Tensor& labels) {
  const TensorList heads = net.heads(x);
  const std::vector<double> weights = net.head_weights();
  Tensor total = cross_entropy(heads[0], labels);
  for (size_t i = 1; i < heads.size(); ++i) total = total + cross_entropy(heads[i], labels) * weights[i];
  return total;
}

}  // namespace

Summary summarize(Module& net, const Shape& input) {
  const Device meta("meta");
  Allocator& memory = meta.allocator();
  const int64_t before = memory.stats().allocated_bytes;  // other tensors on meta, and the net
  Summary s;
  for (const NamedTensor& t : net.named_tensors()) s.weights_bytes += bytes_of(t.tensor);
  for (const Tensor& p : net.parameters()) s.parameters += p.numel();
  const Tensor x(input, DType::float32, meta);
  s.input_bytes = bytes_of(x);
  const auto peak = [&] { return memory.stats().peak_bytes - before + s.weights_bytes; };

  const RestoreModes restore(net);
  {
    const NoGrad no_grad;
    net.eval();
    memory.reset_peak();
    s.layers = run_layers(net, x);
    s.inference_peak_bytes = peak();
    s.flops = s.layers.front().flops;
  }

  net.train();
  const Tensor labels({input[0]}, DType::int32, meta);
  SGD sgd(net.named_parameters(), {.lr = 0.1, .momentum = 0.9});
  memory.reset_peak();
  const double flops = meta_flops();
  const int64_t held = memory.stats().allocated_bytes;
  const Tensor loss = total_loss(net, x, labels);
  s.kept_bytes = memory.stats().allocated_bytes - held;
  loss.backward();
  sgd.step();
  s.training_flops = meta_flops() - flops;
  s.training_peak_bytes = peak();
  sgd.zero_grad();
  return s;
}

}  // namespace dnn
