// dw[k, r, s, c] = sum over n, i, j of dy[n, i, j, k] * x[n, i sh + r dh - top, j sw + s dw - left, c]
// (Dumoulin, Visin 2016): which method a shape takes, how the work is split into chunks and blocks of pixels. The tiles
// of dw that stay in registers are in simd/conv2d_backward_weight.cpp.
//
// Three forms of one loop:
//   pixels    a 1x1 filter at stride 1: x and dy are matrices with one row for each pixel
//   patches   few channels: blocks of pixels are gathered into such a matrix first, R * S * C wide
//   taps      else: each filter cell multiplies shifted pictures; rows and columns outside are skipped by loop bounds
#include <algorithm>

#include <kernels/cpu/conv2d_depthwise.h>
#include <kernels/cpu/conv2d_methods.h>
#include <kernels/cpu/cpu.h>
#include <kernels/cpu/simd/conv2d_backward_weight.h>
#include <kernels/parallel.h>
#include <kernels/verbose.h>

namespace dnn::cpu {
namespace {

constexpr int64_t kPixelBlock = 256;  // of the form `pixels`: with C and K in the hundreds a block lies in the L2 cache
constexpr int64_t kTapsBlock = 256;   // about so many pixels, whole rows or whole pictures
constexpr int64_t kPatchBytes = 64 << 10;
constexpr int64_t kMostPartialSums = 8;

enum class Form { pixels, patches, taps };

struct Plan {
  Form form;
  int r, s, run;       // taps and the values of each: with merged columns s is 1 and the run s * c
  int64_t pitch;       // of a patch
  int64_t block;       // pixels (pixels, patches) or pictures (taps) of a unit of work
  int64_t units;       // along the samples
  int64_t row_blocks;  // taps: the rows of a picture are taken in so many blocks
  int64_t filter_parts, sample_parts;
};

bool is_matrix(const Conv2dShape& p) {
  return p.r == 1 && p.s == 1 && p.stride_h == 1 && p.stride_w == 1 && p.oh() == p.h && p.ow() == p.w;
}

// Without padding the filter's row is one run of x.
bool columns_merge(const Conv2dShape& p) {
  return p.groups == 1 && p.x_pitch() == p.c && p.dilation_w == 1 && p.pad_left == 0 && p.pad_right == 0;
}

// Partial sums of dw cost a pass over it each, parts of the filters another pass over x: the latter where dw is large.
void split_work(const Conv2dShape& p, Plan& plan) {
  constexpr double kWorthThreads = 2e6;  // flops
  constexpr int64_t kSmallWeights = int64_t{64} << 10, kEnoughParts = 4, kMostFilterParts = 16;
  constexpr int64_t kFewestFilters = 40, kFewestPixels = 256;
  plan.filter_parts = plan.sample_parts = 1;
  if (p.flops() < kWorthThreads) return;
  if (p.w_count() > kSmallWeights && plan.form != Form::patches) {
    while (p.k / p.groups >= 2 * kFewestFilters * plan.filter_parts && plan.filter_parts < kMostFilterParts) {
      plan.filter_parts *= 2;
    }
  }
  const int64_t parts = plan.filter_parts * p.groups;
  if (parts >= kEnoughParts) return;
  plan.sample_parts =
      std::clamp<int64_t>(std::min(plan.units, p.y_pixels() / kFewestPixels), 1, kMostPartialSums / parts);
}

Plan plan_for(const Conv2dShape& p, int lanes) {
  const int c = p.c / p.groups, cells = p.r * p.s * c;
  const auto vectors = [&](int64_t values) { return (values + lanes - 1) / lanes; };
  Plan plan{Form::taps, p.r, p.s, c, 0, 1, p.n, 1, 1, 1};
  if (columns_merge(p)) {
    plan.s = 1;
    plan.run = p.s * c;
  }
  const int64_t pixels = p.y_pixels();
  // Gathering costs about four vectors of x a filter's worth of multiplying.
  const double gathered = static_cast<double>(vectors(cells)) * (1 + 4.0 * p.groups / p.k);
  if (is_matrix(p)) {
    plan.form = Form::pixels;
    plan.block = kPixelBlock;
  } else if (gathered < static_cast<double>(vectors(plan.run) * plan.r * plan.s)) {
    plan = {Form::patches, 1, 1, cells, vectors(cells + lanes - 1) * lanes, 1, 1, 1, 1, 1};
    plan.block = std::clamp<int64_t>(kPatchBytes / 4 / plan.pitch, 96, 1024);
  } else {
    const int64_t picture = int64_t{p.oh()} * p.ow();
    plan.block = std::max<int64_t>(1, kTapsBlock / picture);
    plan.row_blocks = std::clamp<int64_t>(picture / kTapsBlock, 1, p.oh());
  }
  plan.units = ((plan.form == Form::taps ? p.n : pixels) + plan.block - 1) / plan.block;
  split_work(p, plan);
  return plan;
}

// The j in [0, out) for which j * stride + offset lies in [0, in).
Range valid_range(int in, int out, int stride, int offset) {
  const int begin = std::min(out, offset < 0 ? (stride - 1 - offset) / stride : 0);
  const int end = offset < in ? std::min(out, (in - 1 - offset) / stride + 1) : 0;
  return {begin, std::max(begin, end)};
}

int64_t rows_of_block(const Conv2dShape& p, const Plan& plan) {
  const int64_t oh = p.oh();
  return plan.form == Form::taps ? (oh + plan.row_blocks - 1) / plan.row_blocks : 1;
}

int64_t pixels_of_block(const Conv2dShape& p, const Plan& plan) {
  return plan.form == Form::taps ? plan.block * rows_of_block(p, plan) * p.ow() : plan.block;
}

// Positions of x that a block of the form `taps` or `pixels` needs at most.
int64_t panel_positions(WeightGradientBlock b, const Conv2dShape& p, const Plan& plan) {
  if (plan.form != Form::taps) return plan.block;
  const int64_t rows = (rows_of_block(p, plan) - 1) * b.stride_h + (b.r - 1) * b.dilation_h + 1;
  return plan.block * std::min(rows, b.x_rows.end - b.x_rows.begin) * (b.x_columns.end - b.x_columns.begin);
}

// A merged run covers several pixels of x, and patches are copies already.
bool copies_x(const Conv2dShape& p, const Plan& plan) {
  return plan.form != Form::patches && plan.run == p.c / p.groups;
}

// Copying dy pays where it is read often.
bool copies_dy(const Conv2dShape& p, const Plan& plan) {
  constexpr int64_t kEnoughReads = 64;  // values of the run in all taps
  return int64_t{plan.r} * plan.s * plan.run >= kEnoughReads && p.k / p.groups > 1;
}

// What all blocks of a call share; filters and samples are filled in for each part.
WeightGradientBlock block_for(const Conv2dShape& p, const Plan& plan, const Range* tap_rows, const Range* tap_columns) {
  WeightGradientBlock b{};
  const int64_t pitch = p.x_pitch();
  b.x_picture = int64_t{p.h} * p.w * pitch;
  b.x_row = int64_t{p.w} * pitch;
  b.x_column = pitch;
  b.stride_h = p.stride_h, b.stride_w = p.stride_w;
  b.dilation_h = p.dilation_h, b.dilation_w = p.dilation_w;
  b.dy_column = p.y_pitch();
  b.dy_row = p.ow() * b.dy_column;
  b.dy_picture = p.oh() * b.dy_row;
  b.dw_filter = int64_t{p.r} * p.s * (p.c / p.groups);
  b.r = plan.r, b.s = plan.s, b.run = plan.run;
  b.pictures = 1;
  b.columns = p.ow();
  b.tap_rows = tap_rows;
  b.tap_columns = tap_columns;
  // Positions count the padding. With one tap only those that are read count.
  b.x_first = -(int64_t{p.pad_top} * p.w + p.pad_left) * pitch;
  b.x_rows = {p.pad_top, int64_t{p.pad_top} + p.h};
  b.x_columns = {p.pad_left, int64_t{p.pad_left} + p.w};
  if (p.r == 1) {
    b.x_row *= p.stride_h;
    b.stride_h = 1;
    b.x_rows = tap_rows[0];
  }
  if (p.s == 1) {
    b.x_column *= p.stride_w;
    b.stride_w = 1;
    b.x_columns = tap_columns[0];
  }
  return b;
}

// Blocks [units.begin, units.end) of pixels, x itself or gathered into patches.
void add_pixels(const Conv2dShape& p, const Plan& plan, const WeightGradientLoops& loops, Range units, float* patches,
                WeightGradientBlock b) {
  const int64_t pixels = p.y_pixels();
  const float* x = b.x;
  const float* dy = b.dy;
  const Range one_row{0, 1};
  b.rows = b.x_rows = one_row;
  b.tap_rows = &one_row;
  b.x_first = 0;
  b.stride_h = b.stride_w = 1;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t first = unit * plan.block, count = std::min(plan.block, pixels - first);
    const Range columns{0, count};
    b.columns = static_cast<int>(count);
    b.x_columns = columns;
    b.tap_columns = &columns;
    b.dy = dy + first * b.dy_column;
    if (patches) {
      loops.gather_patches(p, first, count, x, plan.pitch, patches);
      b.x = patches;
      b.x_column = plan.pitch;
    } else {
      b.x = x + first * b.x_column;
      b.another_follows = unit + 1 < units.end && first + 2 * plan.block <= pixels;
    }
    loops.add_block(b);
  }
}

void add_pictures(const Conv2dShape& p, const Plan& plan, const WeightGradientLoops& loops, Range units,
                  WeightGradientBlock b) {
  const float* x = b.x;
  const float* dy = b.dy;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t first = unit * plan.block;
    b.pictures = static_cast<int>(std::min<int64_t>(plan.block, p.n - first));
    b.x = x + first * b.x_picture;
    b.dy = dy + first * b.dy_picture;
    for (int64_t rows = 0; rows < plan.row_blocks; ++rows) {
      b.rows = chunk_range(p.oh(), plan.row_blocks, rows);
      loops.add_block(b);
    }
  }
}

void add_partial_sums(const Context& context, const WeightGradientLoops& loops, int64_t count, int64_t parts,
                      const float* partial, float* dw) {
  if (parts == 0) return;
  const int64_t chunks = chunk_count(count, kChunkElements / parts);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(count, chunks, chunk);
    loops.add_parts(range.end - range.begin, parts, partial + range.begin, count, dw + range.begin);
  });
}

const char* name_of(Form form) {
  static constexpr const char* kNames[] = {"pixels", "patches", "taps"};
  return kNames[static_cast<int>(form)];
}

}  // namespace

const char* conv2d_backward_weight_route(const Context& context, const Conv2dShape& shape) {
  if (!depthwise_refuses(shape)) return "conv2d_depthwise";
  return name_of(plan_for(shape, weight_gradient_loops[context].lanes).form);
}

void conv2d_backward_weight(Context& context, const Conv2dShape& p, const float* x, const float* dy, float* dw) {
  if (!depthwise_refuses(p)) {
    const VerboseCall report("conv2d_backward_weight", p, "conv2d_depthwise");
    return depthwise_backward_weight(context, p, x, dy, dw);
  }
  const WeightGradientLoops& loops = weight_gradient_loops[context];
  const Plan plan = plan_for(p, loops.lanes);
  const VerboseCall report("conv2d_backward_weight", p, name_of(plan.form));
  const int64_t chunks = p.groups * plan.filter_parts * plan.sample_parts;

  Workspace workspace(context);
  float* partial = workspace.take<float>((plan.sample_parts - 1) * p.w_count());
  Range* tap_rows = workspace.take<Range>(p.r);
  Range* tap_columns = workspace.take<Range>(p.s);
  for (int r = 0; r < p.r; ++r) tap_rows[r] = valid_range(p.h, p.oh(), p.stride_h, r * p.dilation_h - p.pad_top);
  for (int s = 0; s < p.s; ++s) tap_columns[s] = valid_range(p.w, p.ow(), p.stride_w, s * p.dilation_w - p.pad_left);
  const WeightGradientBlock shared = block_for(p, plan, tap_rows, tap_columns);

  const int group_filters = p.k / p.groups, group_channels = p.c / p.groups;
  const int64_t filter_groups = (group_filters + loops.group - 1) / loops.group;
  const int64_t part_filters = (filter_groups + plan.filter_parts - 1) / plan.filter_parts * loops.group;
  const int64_t pixels = pixels_of_block(p, plan);
  const int64_t patch_count = plan.form == Form::patches ? plan.block * plan.pitch : 0;
  const int64_t panel_count = copies_x(p, plan) ? panel_positions(shared, p, plan) * kMaxPanel : 0;
  const int64_t group_count = copies_dy(p, plan) ? pixels * part_filters + kGroupSlack : 0;
  const int64_t threads = threads_for(context, chunks);
  float* patches = workspace.take<float>(threads * patch_count);
  float* panels = workspace.take<float>(threads * panel_count);
  float* groups = workspace.take<float>(threads * group_count);

  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    const int64_t sample_part = chunk % plan.sample_parts, filter_part = chunk / plan.sample_parts % plan.filter_parts;
    const int64_t group = chunk / plan.sample_parts / plan.filter_parts;
    Range filters = chunk_range(filter_groups, plan.filter_parts, filter_part);
    filters = {filters.begin * loops.group, std::min<int64_t>(filters.end * loops.group, group_filters)};
    const int64_t first_filter = group * group_filters + filters.begin;
    WeightGradientBlock b = shared;
    b.filters = static_cast<int>(filters.end - filters.begin);
    b.dw = (sample_part ? partial + (sample_part - 1) * p.w_count() : dw) + first_filter * b.dw_filter;
    std::fill(b.dw, b.dw + b.filters * b.dw_filter, 0.0f);
    b.x = x + group * group_channels;
    b.dy = dy + first_filter;
    if (panel_count) b.x_panel = panels + thread * panel_count;
    if (group_count) b.dy_groups = groups + thread * group_count;
    const Range units = chunk_range(plan.units, plan.sample_parts, sample_part);
    if (plan.form == Form::taps) return add_pictures(p, plan, loops, units, b);
    add_pixels(p, plan, loops, units, patch_count ? patches + thread * patch_count : nullptr, b);
  });
  add_partial_sums(context, loops, p.w_count(), plan.sample_parts - 1, partial, dw);
}

}  // namespace dnn::cpu
