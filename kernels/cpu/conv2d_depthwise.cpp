// Depthwise convolution, y[n, i, j, c] = sum over r, s of w[c, r, s] * x[n, i sh + r dh - top, j sw + s dw - left, c]
// (MobileNets, Howard et al. 2017), and its gradients, brought to the two loops of simd/conv2d_depthwise.cpp. It is
// bound by memory: pictures are read in place, rows and columns outside are skipped.
#include <kernels/cpu/conv2d_depthwise.h>

#include <algorithm>
#include <numeric>

#include <kernels/cpu/simd/conv2d_depthwise.h>
#include <kernels/parallel.h>

namespace dnn::cpu {
namespace {

DepthwisePass forward_pass(const Conv2dShape& p) {
  DepthwisePass pass{};
  pass.h = p.h, pass.w = p.w, pass.oh = p.oh(), pass.ow = p.ow(), pass.r = p.r, pass.s = p.s;
  pass.stride_h = p.stride_h, pass.stride_w = p.stride_w;
  pass.dilation_h = p.dilation_h, pass.dilation_w = p.dilation_w;
  pass.pad_top = p.pad_top, pass.pad_left = p.pad_left;
  pass.channels = p.c;
  pass.x_column = p.x_pitch(), pass.x_row = p.w * pass.x_column, pass.x_picture = p.h * pass.x_row;
  pass.y_column = p.y_pitch(), pass.y_row = pass.ow * pass.y_column, pass.y_picture = pass.oh * pass.y_row;
  return pass;
}

// One side of a phase of the input gradient: positions first, first + stride, ... of x meet the taps last_tap,
// last_tap - tap_step, ..., and position first + v * stride meets them at dy's v - pad, v - pad + dilation, ...
struct Phase {
  int first, count;
  int taps, last_tap, tap_step, dilation, pad;
};

Phase phase_of(int first, int size, int taps, int stride, int pad, int dilation) {
  const int divisor = std::gcd(stride, dilation);
  Phase phase{first, first < size ? (size - 1 - first) / stride + 1 : 0, 0, 0, stride / divisor, dilation / divisor, 0};
  for (int tap = 0; tap < taps; ++tap) {
    if ((first + pad - int64_t{tap} * dilation) % stride != 0) continue;
    ++phase.taps;
    phase.last_tap = tap;
  }
  phase.pad = static_cast<int>((int64_t{phase.last_tap} * dilation - first - pad) / stride);
  return phase;
}

// The weights of a phase's taps, the last one first, as [rows][columns][channels].
void spread_channels(const Conv2dShape& p, const float* w, const Phase& v, const Phase& u, float* to) {
  for (int r = 0; r < v.taps; ++r) {
    for (int s = 0; s < u.taps; ++s) {
      const float* from = w + int64_t{v.last_tap - r * v.tap_step} * p.s + (u.last_tap - s * u.tap_step);
      for (int c = 0; c < p.c; ++c) *to++ = from[int64_t{c} * p.r * p.s];
    }
  }
}

// Bands of rows, each with all passes, so that what they share is read from memory once.
void run_passes(Context& context, const DepthwisePass* passes, int count, int n, const float* x,
                const Epilogue<float>& epilogue, float* y) {
  const auto run = depthwise_loops[context].forward;
  int64_t values = 0, rows = 1;
  for (int i = 0; i < count; ++i) {
    values += int64_t{n} * passes[i].oh * passes[i].ow * passes[i].channels;
    rows = std::max<int64_t>(rows, passes[i].oh);
  }
  const int64_t wanted = chunk_count(values, kChunkElements);
  const int64_t bands = n > 0 ? std::clamp<int64_t>((wanted + n - 1) / n, 1, rows) : 0;
  parallel_for(context, n * bands, [&](int64_t chunk, int) {
    for (int i = 0; i < count; ++i) {
      run(passes[i], chunk / bands, chunk_range(passes[i].oh, bands, chunk % bands), x, epilogue, y);
    }
  });
}

}  // namespace

const char* depthwise_refuses(const Conv2dShape& shape) {
  if (!shape.depthwise()) return "not depthwise";
  return shape.k == shape.c ? nullptr : "more than one filter a channel";
}

void depthwise_pack(const Conv2dShape& p, const float* w, float* packed) {
  for (int64_t tap = 0; tap < int64_t{p.r} * p.s; ++tap) {
    for (int c = 0; c < p.c; ++c) packed[tap * p.c + c] = w[int64_t{c} * p.r * p.s + tap];
  }
}

void depthwise_forward(Context& context, const Conv2dShape& p, const float* packed, const float* x,
                       const Epilogue<float>& epilogue, float* y) {
  DepthwisePass pass = forward_pass(p);
  pass.w_channels = packed;
  run_passes(context, &pass, 1, p.n, x, epilogue, y);
}

// Each of the stride_h * stride_w phases of x meets its own taps: a convolution of dy with stride 1 (Dumoulin, Visin
// 2016, chapter 4).
void depthwise_backward_input(Context& context, const Conv2dShape& p, const float* dy, const float* w, float* dx) {
  Workspace workspace(context);
  float* w_channels = workspace.take<float>(p.w_count());
  DepthwisePass* passes = workspace.take<DepthwisePass>(int64_t{p.stride_h} * p.stride_w);
  const DepthwisePass forward = forward_pass(p);
  int count = 0;
  for (int first_row = 0; first_row < p.stride_h; ++first_row) {
    const Phase v = phase_of(first_row, p.h, p.r, p.stride_h, p.pad_top, p.dilation_h);
    for (int first_column = 0; first_column < p.stride_w; ++first_column) {
      const Phase u = phase_of(first_column, p.w, p.s, p.stride_w, p.pad_left, p.dilation_w);
      DepthwisePass& pass = passes[count++];
      pass = forward;
      pass.h = forward.oh, pass.w = forward.ow, pass.oh = v.count, pass.ow = u.count;
      pass.r = v.taps, pass.s = u.taps;
      pass.stride_h = pass.stride_w = 1;
      pass.dilation_h = v.dilation, pass.dilation_w = u.dilation;
      pass.pad_top = v.pad, pass.pad_left = u.pad;
      pass.x_column = forward.y_column, pass.x_row = forward.y_row, pass.x_picture = forward.y_picture;
      pass.y_column = p.stride_w * forward.x_column;
      pass.y_row = p.stride_h * forward.x_row;
      pass.y_picture = forward.x_picture;
      pass.y_first = first_row * forward.x_row + first_column * forward.x_column;
      pass.w_channels = w_channels;
      spread_channels(p, w, v, u, w_channels);
      w_channels += int64_t{v.taps} * u.taps * p.c;
    }
  }
  run_passes(context, passes, count, p.n, dy, {}, dx);
}

void depthwise_backward_weight(Context& context, const Conv2dShape& p, const float* x, const float* dy, float* dw) {
  constexpr int64_t kMostPartialSums = 8;
  const auto run = depthwise_loops[context].backward_weight;
  const DepthwisePass pass = forward_pass(p);
  const int64_t rows = int64_t{p.n} * pass.oh, taps = int64_t{p.r} * p.s, count = p.w_count();
  const int64_t grain = kChunkElements / std::max<int64_t>(1, int64_t{pass.ow} * p.c) + 1;
  const int64_t chunks = std::max<int64_t>(1, chunk_count(rows, grain, kMostPartialSums));
  Workspace workspace(context);
  float* sums = workspace.take<float>(chunks * count);  // [chunk][r][s][c]
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    std::fill(sums + chunk * count, sums + (chunk + 1) * count, 0.0f);
    run(pass, chunk_range(rows, chunks, chunk), x, dy, sums + chunk * count);
  });
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int c = 0; c < p.c; ++c) {
      float sum = 0;
      for (int64_t chunk = 0; chunk < chunks; ++chunk) sum += sums[chunk * count + tap * p.c + c];
      dw[c * taps + tap] = sum;
    }
  }
}

}  // namespace dnn::cpu
