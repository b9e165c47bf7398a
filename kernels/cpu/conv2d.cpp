// The convolution of the CPU's rows: which method a shape takes, and how the forward pass and the input gradient become
// the direct convolution.
#include <kernels/cpu/conv2d_depthwise.h>
#include <kernels/cpu/conv2d_methods.h>
#include <kernels/cpu/conv2d_panels.h>
#include <kernels/cpu/conv2d_winograd.h>
#include <kernels/cpu/cpu.h>
#include <kernels/verbose.h>

namespace dnn::cpu {
namespace {

DirectConv forward_conv(const Conv2dShape& shape) {
  DirectConv conv{};
  conv.n = shape.n, conv.h = shape.h, conv.w = shape.w, conv.c = shape.c / shape.groups;
  conv.k = shape.k / shape.groups, conv.r = shape.r, conv.s = shape.s;
  conv.stride_h = shape.stride_h, conv.stride_w = shape.stride_w;
  conv.pad_top = shape.pad_top, conv.pad_left = shape.pad_left;
  conv.dilation_h = shape.dilation_h, conv.dilation_w = shape.dilation_w;
  conv.groups = shape.groups;
  conv.oh = shape.oh(), conv.ow = shape.ow();
  conv.x_pitch = shape.x_pitch();
  conv.y_step = shape.y_pitch(), conv.y_row = conv.y_step * conv.ow, conv.y_picture = conv.y_row * conv.oh;
  return conv;
}

FilterView forward_filters(const Conv2dShape& shape, const float* w) {
  const int64_t c = shape.c / shape.groups, filter = c * shape.r * shape.s;
  return {w, shape.k / shape.groups * filter, filter, shape.s * c, c, 1};
}

// One side of one phase of the input gradient. x = phase, phase + stride, ... (padding counted) meets the taps
// t = first_tap, first_tap + tap_step, ... for which t * dilation = phase modulo stride; over those it is a convolution
// of stride 1 and smaller dilation over dy, taps in descending order.
struct Phase {
  int first = 0, count = 0;  // positions first, first + stride, ... of dx
  int first_tap = 0, tap_step = 1, taps = 0;
  int dilation = 1, padding = 0;
};

int greatest_common_divisor(int a, int b) { return b ? greatest_common_divisor(b, a % b) : a; }

Phase phase_of(int phase, int size, int kernel, int stride, int pad, int dilation) {
  Phase p;
  p.first = ((phase - pad) % stride + stride) % stride;
  p.count = p.first < size ? (size - p.first - 1) / stride + 1 : 0;
  const int divisor = greatest_common_divisor(dilation, stride);
  p.tap_step = stride / divisor;
  p.dilation = dilation / divisor;
  while (p.first_tap < kernel && p.first_tap < p.tap_step && int64_t{p.first_tap} * dilation % stride != phase) {
    ++p.first_tap;
  }
  if (p.first_tap >= kernel || p.first_tap >= p.tap_step) return p;
  p.taps = (kernel - p.first_tap - 1) / p.tap_step + 1;
  // Position first + v * stride meets tap first_tap + j * tap_step at dy's position v + shift - j * dilation.
  const int64_t shift = (int64_t{p.first} + pad - int64_t{p.first_tap} * dilation) / stride;
  p.padding = static_cast<int>(int64_t{p.taps - 1} * p.dilation - shift);
  return p;
}

// A phase of the input gradient as a convolution of dy. Its first element of dx is at `offset`, its first filter value
// at `filter_offset` of w.
struct InputPhase {
  DirectConv conv{};
  FilterView steps{};
  int64_t offset = 0, filter_offset = 0;

  FilterView filters(const float* w) const {
    FilterView view = steps;
    view.data = w + filter_offset;
    return view;
  }
};

InputPhase input_phase(const Conv2dShape& shape, int phase_h, int phase_w) {
  const Phase v = phase_of(phase_h, shape.h, shape.r, shape.stride_h, shape.pad_top, shape.dilation_h);
  const Phase u = phase_of(phase_w, shape.w, shape.s, shape.stride_w, shape.pad_left, shape.dilation_w);
  const int64_t c = shape.c / shape.groups, row = shape.s * c, filter = shape.r * row, pitch = shape.x_pitch();
  InputPhase phase;
  DirectConv& conv = phase.conv;
  conv.n = shape.n, conv.h = shape.oh(), conv.w = shape.ow(), conv.c = shape.k / shape.groups;
  conv.k = shape.c / shape.groups;
  if (v.taps > 0 && u.taps > 0) conv.r = v.taps, conv.s = u.taps;  // else no window sees these pixels: zeros
  conv.stride_h = conv.stride_w = 1;
  conv.pad_top = v.padding, conv.pad_left = u.padding;
  conv.dilation_h = v.dilation, conv.dilation_w = u.dilation;
  conv.groups = shape.groups;
  conv.oh = v.count, conv.ow = u.count;
  conv.x_pitch = shape.y_pitch();
  conv.y_step = shape.stride_w * pitch;
  conv.y_row = shape.stride_h * (shape.w * pitch);
  conv.y_picture = shape.h * (shape.w * pitch);
  const int64_t last_row = v.first_tap + int64_t{v.taps - 1} * v.tap_step;
  const int64_t last_col = u.first_tap + int64_t{u.taps - 1} * u.tap_step;
  phase.steps = {nullptr, conv.c * filter, 1, -v.tap_step * row, -u.tap_step * c, filter};
  phase.filter_offset = last_row * row + last_col * c;
  phase.offset = (int64_t{v.first} * shape.w + u.first) * pitch;
  return phase;
}

// A method for convolutions in the form of conv2d_direct.h, with filters that it has packed.
struct DirectMethod {
  int64_t (*packed_count)(Context&, const DirectConv&);
  void (*pack)(Context&, const DirectConv&, const FilterView&, float* packed);
  void (*run)(Context&, const DirectConv&, const float* packed, const float* x, const Epilogue<float>&, float* y);
};
constexpr DirectMethod kDirect{direct_packed_count, pack_filters, conv2d_direct};
constexpr DirectMethod kWinograd{winograd_packed_count, winograd_pack, conv2d_winograd};

// dx[ih][iw][c] = sum over k and the (oh, ow, r, s) with oh * stride - pad + r * dilation = ih, ... of
// dy[oh][ow][k] * w[k][r][s][c]: stride_h * stride_w phases (Dumoulin, Visin 2016, chapter 4), one for stride 1.
template <const DirectMethod& kMethod>
void backward_input_by(Context& context, const Conv2dShape& shape, const float* dy, const float* w, float* dx) {
  for (int phase_h = 0; phase_h < shape.stride_h; ++phase_h) {
    for (int phase_w = 0; phase_w < shape.stride_w; ++phase_w) {
      const InputPhase phase = input_phase(shape, phase_h, phase_w);
      Workspace workspace(context);
      float* const packed = workspace.take<float>(kMethod.packed_count(context, phase.conv));
      kMethod.pack(context, phase.conv, phase.filters(w), packed);
      kMethod.run(context, phase.conv, packed, dy, {}, dx + phase.offset);
    }
  }
}

// The forward pass by one method: first w is packed, into the workspace at each call or once for many; any method takes
// the weights that it packed with pictures of any size. `refuses` gives the reason why a shape is not for it, or null.
struct Forward {
  const char* name;
  const char* (*refuses)(const Conv2dShape&, bool packed_once);
  int64_t (*packed_count)(Context&, const Conv2dShape&);
  void (*pack)(Context&, const Conv2dShape&, const float* w, float* packed);
  void (*run)(Context&, const Conv2dShape&, const float* packed, const float* x, const Epilogue<float>&, float* y);
};

template <const DirectMethod& kMethod>
constexpr Forward forward_by(const char* name, const char* (*refuses)(const Conv2dShape&, bool packed_once)) {
  return {name, refuses,
          [](Context& context, const Conv2dShape& shape) { return kMethod.packed_count(context, forward_conv(shape)); },
          [](Context& context, const Conv2dShape& shape, const float* w, float* packed) {
            kMethod.pack(context, forward_conv(shape), forward_filters(shape, w), packed);
          },
          [](Context& context, const Conv2dShape& shape, const float* packed, const float* x,
             const Epilogue<float>& epilogue,
             float* y) { kMethod.run(context, forward_conv(shape), packed, x, epilogue, y); }};
}

// The most special first; the last takes everything.
constexpr Forward kForward[] = {
    {"conv2d_depthwise", [](const Conv2dShape& shape, bool) { return depthwise_refuses(shape); },
     [](Context&, const Conv2dShape& shape) { return shape.w_count(); },
     [](Context&, const Conv2dShape& shape, const float* w, float* packed) { depthwise_pack(shape, w, packed); },
     depthwise_forward},
    forward_by<kWinograd>("conv2d_winograd", [](const Conv2dShape& shape,
                                                bool once) { return winograd_refuses(forward_conv(shape), once); }),
    forward_by<kDirect>("conv2d_direct", [](const Conv2dShape&, bool) -> const char* { return nullptr; }),
};

int forward_method(const Conv2dShape& shape, bool packed_once) {
  int method = 0;
  while (kForward[method].refuses(shape, packed_once)) ++method;
  return method;
}

struct BackwardInput {
  const char* name;
  const char* (*refuses)(const Conv2dShape&);
  void (*run)(Context&, const Conv2dShape&, const float* dy, const float* w, float* dx);
};

constexpr BackwardInput kBackwardInput[] = {
    {"conv2d_depthwise", depthwise_refuses, depthwise_backward_input},
    {"conv2d_winograd",
     [](const Conv2dShape& shape) {
       return shape.stride_h != 1 || shape.stride_w != 1 ? "stride is not 1"
                                                         : winograd_refuses(input_phase(shape, 0, 0).conv, false);
     },
     backward_input_by<kWinograd>},
    {"conv2d_direct", [](const Conv2dShape&) -> const char* { return nullptr; }, backward_input_by<kDirect>},
};

const BackwardInput& backward_input_method(const Conv2dShape& shape) {
  const BackwardInput* method = kBackwardInput;
  while (method->refuses(shape)) ++method;
  return *method;
}

}  // namespace

const char* conv2d_forward_route(const Conv2dShape& shape, bool packed_once) {
  return kForward[forward_method(shape, packed_once)].name;
}

const char* conv2d_backward_input_route(const Conv2dShape& shape) { return backward_input_method(shape).name; }

const char* conv2d_direct_structure(const Context& context, const Conv2dShape& shape) {
  return direct_structure(context, forward_conv(shape));
}

void conv2d_forward(Context& context, const Conv2dShape& shape, const float* x, const float* w,
                    const Epilogue<float>& epilogue, float* y) {
  const Forward& method = kForward[forward_method(shape, false)];
  const VerboseCall report("conv2d_forward", shape, method.name);
  Workspace workspace(context);
  float* const packed = workspace.take<float>(method.packed_count(context, shape));
  method.pack(context, shape, w, packed);
  method.run(context, shape, packed, x, epilogue, y);
}

Conv2dPacking conv2d_packing(Context& context, const Conv2dShape& shape) {
  const int method = forward_method(shape, true);
  return {method, kForward[method].packed_count(context, shape)};
}

void conv2d_pack_weight(Context& context, const Conv2dShape& shape, const Conv2dPacking& packing, const float* w,
                        float* packed) {
  kForward[packing.method].pack(context, shape, w, packed);
}

void conv2d_forward_packed(Context& context, const Conv2dShape& shape, const Conv2dPacking& packing, const float* x,
                           const float* packed, const Epilogue<float>& epilogue, float* y) {
  const Forward& method = kForward[packing.method];
  const VerboseCall report("conv2d_forward_packed", shape, method.name);
  method.run(context, shape, packed, x, epilogue, y);
}

void conv2d_backward_input(Context& context, const Conv2dShape& shape, const float* dy, const float* w, float* dx) {
  const BackwardInput& method = backward_input_method(shape);
  const VerboseCall report("conv2d_backward_input", shape, method.name);
  method.run(context, shape, dy, w, dx);
}

}  // namespace dnn::cpu
