// A convolution whose one filter (r, s) and one bias serve all channels:
//   y[n, i, j, c] = activation(b + sum_{r,s} w[r, s] x[n, i sh + r dh - top, j sw + s dw - left, c])
// ("subsampling" of LeNet-5, LeCun et al. 1998, with a whole filter in place of one coefficient) and its gradients.
//
// Two routes. Where windows don't overlap, as in every subsampling layer, a column of x meets one column of the filter
// only: the filter's rows are spread over the columns of a picture once, and whole rows of width * channels are
// multiplied. Otherwise each filter cell takes a run of x: a whole row at stride 1, the channels of a pixel else.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/shared_conv2d.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/masked_load-inl.h>
#include <kernels/parallel.h>

#ifndef DNN_CPU_SHARED_CONV2D
#define DNN_CPU_SHARED_CONV2D
namespace dnn::cpu {
namespace {

constexpr int kMaxLanes = 16;  // rows in scratch memory are this much longer: whole vectors may be stored at their end

// The j in [0, out) for which j * stride + offset lies in [0, in).
Range valid_range(int in, int out, int stride, int offset) {
  const int begin = std::min(out, offset < 0 ? (stride - 1 - offset) / stride : 0);
  const int end = offset < in ? std::min(out, (in - 1 - offset) / stride + 1) : 0;
  return {begin, std::max(begin, end)};
}

bool windows_apart(const Conv2dShape& p) {
  return p.dilation_h * (p.r - 1) < p.stride_h && p.dilation_w * (p.s - 1) < p.stride_w && p.x_pitch() == p.c;
}

// The window and its cell that a row (or column) of x belongs to; cell -1: to none. For windows apart.
struct Cell {
  int window, cell;
};

Cell cell_of(int position, int pad, int stride, int dilation, int cells, int windows) {
  const int window = (position + pad) / stride, inside = (position + pad) % stride;
  const bool used = inside % dilation == 0 && inside / dilation < cells && window < windows;
  return {window, used ? inside / dilation : -1};
}

int64_t x_row(const Conv2dShape& p) { return int64_t{p.w} * p.x_pitch(); }
int64_t y_row(const Conv2dShape& p) { return int64_t{p.ow()} * p.y_pitch(); }
int64_t x_picture(const Conv2dShape& p) { return p.h * x_row(p); }
int64_t y_picture(const Conv2dShape& p) { return p.oh() * y_row(p); }

// spread[r][iw, c] = the filter cell that x's column iw meets in row r of a window, 0 for none.
void spread_filter(const Conv2dShape& p, const float* w, float* spread) {
  for (int iw = 0; iw < p.w; ++iw) {
    const int s = cell_of(iw, p.pad_left, p.stride_w, p.dilation_w, p.s, p.ow()).cell;
    for (int r = 0; r < p.r; ++r) {
      float* to = spread + (int64_t{r} * p.w + iw) * p.c;
      std::fill(to, to + p.c, s < 0 ? 0.0f : w[r * p.s + s]);
    }
  }
}

struct Scratch {
  float* x_row;  // w * c + kMaxLanes
  float* y_row;  // ow * c + kMaxLanes
};

}  // namespace
}  // namespace dnn::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

void add_scaled(int64_t count, float a, const float* x, float* y) {  // y += a * x
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  const auto va = hn::Set(d, a);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::MulAdd(va, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < count; ++i) y[i] += a * x[i];
}

float dot(int64_t count, const float* x, const float* y) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
  float result = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) result += x[i] * y[i];
  return result;
}

// f(cell, from, columns) for every filter cell that a row of y meets: in these columns of y, the first of which takes
// its value of x at offset `from`, the next ones stride_w pixels on.
template <class F>
void for_each_run(const Conv2dShape& p, int oh, F&& f) {
  for (int r = 0; r < p.r; ++r) {
    const int ih = oh * p.stride_h + r * p.dilation_h - p.pad_top;
    if (ih < 0 || ih >= p.h) continue;
    for (int s = 0; s < p.s; ++s) {
      const int offset = s * p.dilation_w - p.pad_left;
      const Range columns = valid_range(p.w, p.ow(), p.stride_w, offset);
      if (columns.begin == columns.end) continue;
      f(r * p.s + s, ih * x_row(p) + (columns.begin * p.stride_w + offset) * p.x_pitch(), columns);
    }
  }
}

template <UnaryOp kActivation>
void activate_row(int64_t count, float* y) {  // whole vectors: the row has room
  const hn::ScalableTag<float> d;
  for (int64_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(activate<kActivation>(d, hn::LoadU(d, y + i)), d, y + i);
}

// Whole vectors are stored at each pixel, and what they write beyond its channels is overwritten by the next.
void forward_row_apart(const Conv2dShape& p, int oh, const float* x, const float* spread, float bias, float* sums,
                       float* y) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d), row = x_row(p);
  const int ih = oh * p.stride_h - p.pad_top;
  const auto [first, last] = valid_range(p.h, p.r, p.dilation_h, ih);
  const float* x0 = x + (ih + first * p.dilation_h) * row;
  const int64_t step = p.dilation_h * row;
  int64_t i = 0;
  for (; i + lanes <= row; i += lanes) {
    auto sum = hn::Zero(d);
    for (int64_t r = first; r < last; ++r) {
      sum = hn::MulAdd(hn::LoadU(d, x0 + (r - first) * step + i), hn::LoadU(d, spread + r * row + i), sum);
    }
    hn::StoreU(sum, d, sums + i);
  }
  for (; i < row; ++i) {
    sums[i] = 0;
    for (int64_t r = first; r < last; ++r) sums[i] += x0[(r - first) * step + i] * spread[r * row + i];
  }
  for (int ow = 0; ow < p.ow(); ++ow) {
    const int iw = ow * p.stride_w - p.pad_left;
    for (int c = 0; c < p.c; c += lanes) {
      auto sum = hn::Set(d, bias);
      for (int s = 0, column = iw; s < p.s; ++s, column += p.dilation_w) {
        if (column < 0 || column >= p.w) continue;
        sum = hn::Add(sum, hn::LoadU(d, sums + int64_t{column} * p.c + c));
      }
      hn::StoreU(sum, d, y + int64_t{ow} * p.c + c);
    }
  }
}

void forward_row(const Conv2dShape& p, int oh, const float* x, const float* w, float bias, float* y) {
  std::fill(y, y + int64_t{p.ow()} * p.c, bias);
  for_each_run(p, oh, [&](int cell, int64_t from, Range columns) {
    float* to = y + columns.begin * p.c;
    const int64_t pixels = columns.end - columns.begin;
    if (p.stride_w == 1 && p.x_pitch() == p.c) return add_scaled(pixels * p.c, w[cell], x + from, to);
    for (int64_t i = 0; i < pixels; ++i) {
      add_scaled(p.c, w[cell], x + from + i * p.stride_w * p.x_pitch(), to + i * p.c);
    }
  });
}

void forward_pictures(const Conv2dShape& p, Range pictures, const float* x, const float* w, const float* spread,
                      float bias, Activation activation, Scratch scratch, float* y) {
  const int64_t count = int64_t{p.ow()} * p.c;
  std::fill(scratch.x_row, scratch.x_row + x_row(p) + kMaxLanes, 0.0f);
  std::fill(scratch.y_row, scratch.y_row + count + kMaxLanes, 0.0f);
  for (int64_t n = pictures.begin; n < pictures.end; ++n) {
    const float* picture = x + n * x_picture(p);
    for (int oh = 0; oh < p.oh(); ++oh) {
      if (spread) {
        forward_row_apart(p, oh, picture, spread, bias, scratch.x_row, scratch.y_row);
      } else {
        forward_row(p, oh, picture, w, bias, scratch.y_row);
      }
      if (activation != Activation::none) {
        with_activation(activation,
                        [&]<UnaryOp kActivation>() HWY_ATTR { activate_row<kActivation>(count, scratch.y_row); });
      }
      float* to = y + n * y_picture(p) + oh * y_row(p);
      const int64_t run = p.y_pitch() == p.c ? count : p.c;
      for (int64_t from = 0; from < count; from += run, to += p.y_pitch()) {
        std::memcpy(to, scratch.y_row + from, static_cast<size_t>(run) * sizeof(float));
      }
    }
  }
}

// spread[iw, c] = dy[ow, c] of the window that column iw belongs to; columns of none keep their zeros.
void spread_row(const Conv2dShape& p, const float* dy, float* spread) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int ow = 0; ow < p.ow(); ++ow) {
    for (int s = 0; s < p.s; ++s) {
      const int iw = ow * p.stride_w + s * p.dilation_w - p.pad_left;
      if (iw < 0 || iw >= p.w) continue;
      for (int c = 0; c < p.c; c += lanes) {
        const auto v = masked_load(hn::FirstN(d, p.c - c), d, dy + int64_t{ow} * p.y_pitch() + c);
        hn::StoreU(v, d, spread + int64_t{iw} * p.c + c);
      }
    }
  }
}

void backward_input_apart(const Conv2dShape& p, Range pictures, const float* dy, const float* spread, float* dy_spread,
                          float* dx) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d), row = x_row(p);
  std::fill(dy_spread, dy_spread + row + kMaxLanes, 0.0f);
  for (int64_t n = pictures.begin; n < pictures.end; ++n) {
    int spread_oh = -1;
    for (int ih = 0; ih < p.h; ++ih) {
      float* to = dx + n * x_picture(p) + ih * row;
      const auto [oh, r] = cell_of(ih, p.pad_top, p.stride_h, p.dilation_h, p.r, p.oh());
      if (r < 0) {
        std::fill(to, to + row, 0.0f);
        continue;
      }
      if (oh != spread_oh) spread_row(p, dy + n * y_picture(p) + oh * y_row(p), dy_spread);
      spread_oh = oh;
      const float* w = spread + r * row;
      int64_t i = 0;
      for (; i + lanes <= row; i += lanes) {
        hn::StoreU(hn::Mul(hn::LoadU(d, w + i), hn::LoadU(d, dy_spread + i)), d, to + i);
      }
      for (; i < row; ++i) to[i] = w[i] * dy_spread[i];
    }
  }
}

void backward_input_pictures(const Conv2dShape& p, Range pictures, const float* dy, const float* w, float* dx) {
  const bool runs = p.stride_w == 1 && p.x_pitch() == p.c && p.y_pitch() == p.c;
  for (int64_t n = pictures.begin; n < pictures.end; ++n) {
    float* picture = dx + n * x_picture(p);
    for (int64_t i = 0; i < int64_t{p.h} * p.w; ++i) std::fill_n(picture + i * p.x_pitch(), p.c, 0.0f);
    for (int oh = 0; oh < p.oh(); ++oh) {
      for_each_run(p, oh, [&](int cell, int64_t to, Range columns) {
        const float* from = dy + n * y_picture(p) + oh * y_row(p) + columns.begin * p.y_pitch();
        const int64_t pixels = columns.end - columns.begin;
        if (runs) return add_scaled(pixels * p.c, w[cell], from, picture + to);
        for (int64_t i = 0; i < pixels; ++i) {
          add_scaled(p.c, w[cell], from + i * p.y_pitch(), picture + to + i * p.stride_w * p.x_pitch());
        }
      });
    }
  }
}

// Adds dy's rows into bias_sums[ow, c], and x * dy into cell_sums: [r][w * c] where windows are apart (`dy_spread` is
// given), [r * s] else.
void backward_weight_pictures(const Conv2dShape& p, Range pictures, const float* x, const float* dy, float* dy_spread,
                              float* cell_sums, float* bias_sums) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d), row = x_row(p);
  const bool runs = p.stride_w == 1 && p.x_pitch() == p.c && p.y_pitch() == p.c;
  if (dy_spread) std::fill(dy_spread, dy_spread + row + kMaxLanes, 0.0f);
  for (int64_t n = pictures.begin; n < pictures.end; ++n) {
    const float* picture = x + n * x_picture(p);
    for (int oh = 0; oh < p.oh(); ++oh) {
      const float* dy_from = dy + n * y_picture(p) + oh * y_row(p);
      for (int ow = 0; ow < (p.y_pitch() == p.c ? 1 : p.ow()); ++ow) {
        const int64_t count = p.y_pitch() == p.c ? y_row(p) : p.c;
        add_scaled(count, 1.0f, dy_from + int64_t{ow} * p.y_pitch(), bias_sums + int64_t{ow} * p.c);
      }
      if (!dy_spread) {
        for_each_run(p, oh, [&](int cell, int64_t from, Range columns) {
          const float* to = dy_from + columns.begin * p.y_pitch();
          const int64_t pixels = columns.end - columns.begin;
          if (runs) {
            cell_sums[cell] += dot(pixels * p.c, picture + from, to);
            return;
          }
          for (int64_t i = 0; i < pixels; ++i) {
            cell_sums[cell] += dot(p.c, picture + from + i * p.stride_w * p.x_pitch(), to + i * p.y_pitch());
          }
        });
        continue;
      }
      spread_row(p, dy_from, dy_spread);
      for (int r = 0; r < p.r; ++r) {
        const int ih = oh * p.stride_h + r * p.dilation_h - p.pad_top;
        if (ih < 0 || ih >= p.h) continue;
        const float* x_from = picture + ih * row;
        float* sums = cell_sums + r * row;
        int64_t i = 0;
        for (; i + lanes <= row; i += lanes) {
          const auto v = hn::MulAdd(hn::LoadU(d, x_from + i), hn::LoadU(d, dy_spread + i), hn::LoadU(d, sums + i));
          hn::StoreU(v, d, sums + i);
        }
        for (; i < row; ++i) sums[i] += x_from[i] * dy_spread[i];
      }
    }
  }
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// Pictures that make a chunk worth a thread.
int64_t picture_grain(const Conv2dShape& p) { return 1 + kChunkElements / std::max<int64_t>(x_picture(p), 1); }

float* take_spread(Workspace& workspace, const Conv2dShape& p, const float* w) {
  if (!windows_apart(p)) return nullptr;
  float* spread = workspace.take<float>(p.r * x_row(p));
  spread_filter(p, w, spread);
  return spread;
}

}  // namespace

void shared_conv2d_forward(Context& context, const Conv2dShape& p, const float* x, const float* w, const float* bias,
                           Activation activation, float* y) {
  const auto pictures = DNN_PER_ISA(forward_pictures)[context];
  Workspace workspace(context);
  const float* spread = take_spread(workspace, p, w);
  const int64_t chunks = chunk_count(p.n, picture_grain(p));
  const int64_t x_count = x_row(p) + kMaxLanes, y_count = int64_t{p.ow()} * p.c + kMaxLanes;
  float* scratch = workspace.take<float>(threads_for(context, chunks) * (x_count + y_count));
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    float* rows = scratch + thread * (x_count + y_count);
    pictures(p, chunk_range(p.n, chunks, chunk), x, w, spread, bias ? *bias : 0.0f, activation, {rows, rows + x_count},
             y);
  });
}

void shared_conv2d_backward_input(Context& context, const Conv2dShape& p, const float* dy, const float* w, float* dx) {
  const int64_t chunks = chunk_count(p.n, picture_grain(p));
  if (!windows_apart(p)) {
    const auto pictures = DNN_PER_ISA(backward_input_pictures)[context];
    parallel_for(context, chunks, [&](int64_t chunk, int) { pictures(p, chunk_range(p.n, chunks, chunk), dy, w, dx); });
    return;
  }
  const auto pictures = DNN_PER_ISA(backward_input_apart)[context];
  Workspace workspace(context);
  const float* spread = take_spread(workspace, p, w);
  const int64_t count = x_row(p) + kMaxLanes;
  float* scratch = workspace.take<float>(threads_for(context, chunks) * count);
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    pictures(p, chunk_range(p.n, chunks, chunk), dy, spread, scratch + thread * count, dx);
  });
}

void shared_conv2d_backward_weight(Context& context, const Conv2dShape& p, const float* x, const float* dy, float* dw,
                                   float* dbias) {
  constexpr int64_t kMostPartialSums = 8;
  const auto pictures = DNN_PER_ISA(backward_weight_pictures)[context];
  const bool apart = windows_apart(p);
  const int64_t chunks = std::max<int64_t>(1, chunk_count(p.n, picture_grain(p), kMostPartialSums));
  const int64_t taps = int64_t{p.r} * p.s, cells = apart ? p.r * x_row(p) : taps, biases = int64_t{p.ow()} * p.c;
  const int64_t row = x_row(p) + kMaxLanes;
  Workspace workspace(context);
  float* sums = workspace.take<float>(chunks * (cells + biases));
  float* dy_rows = apart ? workspace.take<float>(threads_for(context, chunks) * row) : nullptr;
  std::fill(sums, sums + chunks * (cells + biases), 0.0f);
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    float* mine = sums + chunk * (cells + biases);
    pictures(p, chunk_range(p.n, chunks, chunk), x, dy, apart ? dy_rows + thread * row : nullptr, mine, mine + cells);
  });
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    const float* other = sums + chunk * (cells + biases);
    for (int64_t i = 0; i < cells + biases; ++i) sums[i] += other[i];
  }
  std::fill_n(dw, taps, 0.0f);
  for (int r = 0; r < p.r; ++r) {
    if (!apart) {
      for (int s = 0; s < p.s; ++s) dw[r * p.s + s] = sums[r * p.s + s];
      continue;
    }
    for (int iw = 0; iw < p.w; ++iw) {
      const int s = cell_of(iw, p.pad_left, p.stride_w, p.dilation_w, p.s, p.ow()).cell;
      if (s < 0) continue;
      const float* column = sums + r * x_row(p) + int64_t{iw} * p.c;
      for (int c = 0; c < p.c; ++c) dw[r * p.s + s] += column[c];
    }
  }
  if (!dbias) return;
  *dbias = 0;
  for (int64_t i = 0; i < biases; ++i) *dbias += sums[cells + i];
}

}  // namespace dnn::cpu
#endif
