#include <libdnn/measure/summary.h>

#include <map>

#include <kernels/meta.h>
#include <libdnn/autograd/tape.h>
#include <libdnn/core/allocator.h>
#include <libdnn/layers/head_losses.h>
#include <libdnn/layers/module_observer.h>
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

// Runs the net once in eval() mode and notes the result of each module, or fused group of them.
std::vector<LayerSummary> run_layers(Module& net, const Tensor& x) {
  std::map<const Module*, std::string> names;
  for (const NamedModule& entry : net.named_modules()) names.emplace(entry.module, entry.name);
  std::vector<LayerSummary> layers;
  std::vector<std::pair<size_t, double>> open;  // line and flops at the beginning of the modules under way
  const auto begin = [&](const ModuleCall& call) {
    LayerSummary line;
    line.name = names[&call.module] + call.name_suffix();
    line.type = call.type();
    line.depth = static_cast<int>(open.size());
    line.parameters = own_parameters(call.module);
    open.emplace_back(layers.size(), meta_flops());
    layers.push_back(std::move(line));
  };
  const auto end = [&](const ModuleCall&, const Tensor& y) {
    LayerSummary& line = layers[open.back().first];
    line.output = y.shape();
    line.output_bytes = bytes_of(y);
    line.flops = meta_flops() - open.back().second;
    open.pop_back();
  };
  const ModuleObserver observer(begin, end);
  net(x);
  return layers;
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
  const Tensor loss = head_losses(net, x, labels).total;
  s.kept_bytes = memory.stats().allocated_bytes - held;
  loss.backward();
  sgd.step();
  s.training_flops = meta_flops() - flops;
  s.training_peak_bytes = peak();
  sgd.zero_grad();
  return s;
}

}  // namespace dnn
