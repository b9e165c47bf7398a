#include <libdnn/ops/epilogue.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>

namespace dnn {

bool can_fuse(const char* op, Activation activation, bool gradient_wanted) {
  if (has_parameters(activation.op)) {
    throw Error(fmt::format("[{}] an activation with parameters is an operation of its own, not part of another", op));
  }
  return !gradient_wanted || slope_from_output(activation);
}

EpilogueGrads epilogue_backward(const char* op, Activation activation, const Tensor& y, const Tensor& dy,
                                bool want_dbias) {
  const bool active = activation != Activation::none;
  EpilogueGrads grads;
  grads.dz = active ? over_or_new(dy) : dy;
  if (!active && !want_dbias) return grads;
  const int cols = dy.size(-1);
  if (want_dbias) grads.dbias = Tensor({cols}, dy.dtype(), dy.device());
  run_kernel(op, {&dy, &y}, [&]<class T>(const Kernels<T>& k, Context& context) {
    const int64_t rows = cols > 0 ? dy.numel() / cols : 0;
    k.epilogue_backward(context, {rows, cols}, activation, data_or_null<T>(y), dy.data<T>(),
                        active ? grads.dz.data<T>() : nullptr, data_or_null<T>(grads.dbias));
  });
  return grads;
}

}  // namespace dnn
