// The convolution with one filter for all channels, forward and gradients, at the sizes of subsampling layers.
#include <bench/machine.h>
#include <kernels/verbose.h>

namespace dnn::bench {
namespace {

Conv2dShape subsampling(int n, int size, int channels, int window) {
  Conv2dShape p;
  p.n = n, p.h = p.w = size;
  p.c = p.k = p.groups = channels;
  p.r = p.s = p.stride_h = p.stride_w = window;
  return p;
}

struct Operands {
  Operands(const Backend& row, const Conv2dShape& p)
      : x(row, p.x_pixels() * p.c, 1), w(row, int64_t{p.r} * p.s, 2), bias(row, 1, 3), y(row, p.y_pixels() * p.k, 4) {}
  Array x, w, bias, y;
};

using Run = void (*)(Context&, const Conv2dShape&, const Operands&);

void forward(Context& context, const Conv2dShape& p, const Operands& a) {
  context.backend.f32.shared_conv2d_forward(context, p, a.x.get(), a.w.get(), a.bias.get(), Activation::sigmoid,
                                            a.y.get());
}

void backward_input(Context& context, const Conv2dShape& p, const Operands& a) {
  context.backend.f32.shared_conv2d_backward_input(context, p, a.y.get(), a.w.get(), a.x.get());
}

void backward_weight(Context& context, const Conv2dShape& p, const Operands& a) {
  context.backend.f32.shared_conv2d_backward_weight(context, p, a.x.get(), a.y.get(), a.w.get(), a.bias.get());
}

void time(benchmark::State& state, const Backend& row, const Conv2dShape& p, Run run) {
  Context context(row);
  const Operands operands(row, p);
  const double flops = 2.0 * static_cast<double>(p.y_pixels()) * p.k * p.r * p.s;
  measure(state, context, flops, static_cast<double>(p.bytes(sizeof(float))), [&] { run(context, p, operands); });
}

}  // namespace

void register_benchmarks(int) {
  const std::pair<const char*, Run> ops[] = {
      {"forward", forward}, {"backward_input", backward_input}, {"backward_weight", backward_weight}};
  for (const Backend* row : cpu_rows()) {
    for (const Conv2dShape& shape :
         {subsampling(64, 24, 6, 4), subsampling(64, 28, 6, 2), subsampling(64, 10, 16, 2)}) {
      for (const auto& [op, run] : ops) {
        add(std::string("shared_conv2d_") + op + "/" + describe(shape) + "/" + row->name,
            [=, run = run](benchmark::State& state) { time(state, *row, shape, run); });
      }
    }
  }
}

}  // namespace dnn::bench
