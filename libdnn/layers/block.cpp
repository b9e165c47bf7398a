#include <libdnn/layers/block.h>

#include <libdnn/layers/chain.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/concat.h>

namespace dnn {

Tensor Block::chain(const Tensor& x, std::initializer_list<std::string_view> names, const Tensor& residual) const {
  std::vector<Module*> modules;
  modules.reserve(names.size());
  for (const std::string_view name : names) modules.push_back(&child(name));
  return run_chain(modules, x, fusion(), residual);
}

Tensor Concat::forward(const Tensor& x) {
  TensorList parts;
  for (const Child& branch : children()) parts.push_back((*branch.module)(x));
  return concat(parts, -1);
}

Tensor Residual::forward(const Tensor& x) {
  Module& body = child("body");
  return body.as_activation() ? x + body(x) : run_chain({&body}, x, fusion(), x);
}

}  // namespace dnn
