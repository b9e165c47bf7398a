#include <libdnn/train/non_finite.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <libdnn/autograd/tape.h>

namespace dnn {
namespace {

template <class T>
bool all_finite_as(const Tensor& t) {
  const std::vector<T> values = t.to_vector<T>();
  return std::all_of(values.begin(), values.end(), [](T v) { return std::isfinite(v); });
}

bool all_finite(const Tensor& t) {
  if (!t.defined()) return true;
  if (t.dtype() == DType::float32) return all_finite_as<float>(t);
  return t.dtype() != DType::float64 || all_finite_as<double>(t);
}

}  // namespace

std::string first_non_finite(const Module& net) {
  for (const NamedTensor& part : net.named_tensors()) {
    if (!all_finite(part.tensor)) return part.name;
  }
  return "";
}

std::string describe_non_finite(Module& net, const Tensor& input) {
  if (!all_finite(input)) return "the input has values that are not finite";
  if (const std::string name = first_non_finite(net); !name.empty()) {
    return fmt::format("{} has values that are not finite", name);
  }
  const NoGrad no_grad;
  std::string where = "all layers are finite, the loss itself is not";
  bool found = false;
  ScopedHooks hooks;
  for (const NamedModule& part : net.named_modules()) {
    hooks.add(part.module->register_forward_hook(
        [&, name = part.name](Module& module, const TensorList&, const Tensor& output) {
          if (found || all_finite(output)) return;
          found = true;
          where = fmt::format("the first values that are not finite are in the output of {} ({})",
                              name.empty() ? "the net" : name, module.type_name());
        }));
  }
  const TensorList heads = net.heads(input);
  for (size_t i = 0; i < heads.size() && !found; ++i) {
    if (all_finite(heads[i])) continue;
    found = true;
    where = fmt::format("the result of head {} of the net has values that are not finite", i);
  }
  return where;
}

}  // namespace dnn
