#include <kernels/cpu/conv2d_panels.h>

#include <kernels/parallel.h>

namespace dnn::cpu {
namespace {

void pack_panel(const DirectConv& conv, const FilterView& filters, int lanes, const Panel& panel, float* to) {
  const int width = panel.vectors * lanes;
  for (int r = 0; r < conv.r; ++r) {
    for (int s = 0; s < conv.s; ++s, to += int64_t{width} * conv.c) {
      for (int j = 0; j < panel.vectors; ++j) {
        float* vector = to + int64_t{j} * lanes;
        const int start = vector_start(panel.channels, panel.vectors, j, lanes);
        const int used = std::min(lanes, panel.channels - start);
        const float* from = filters.data + panel.group * filters.group + (panel.first + start) * filters.k_step +
                            r * filters.r_step + s * filters.s_step;
        if (filters.k_step == 1) {
          for (int64_t c = 0; c < conv.c; ++c) {
            float* row = vector + c * width;
            for (int lane = 0; lane < used; ++lane) row[lane] = from[c * filters.c_step + lane];
            for (int lane = used; lane < lanes; ++lane) row[lane] = 0;
          }
          continue;
        }
        constexpr int64_t kBlock = 64;  // channels whose lines stay in the first-level cache
        for (int64_t c0 = 0; c0 < conv.c; c0 += kBlock) {
          const int64_t c1 = std::min<int64_t>(conv.c, c0 + kBlock);
          for (int lane = 0; lane < lanes; ++lane) {
            float* column = vector + lane;
            const float* filter = from + lane * filters.k_step;
            for (int64_t c = c0; c < c1; ++c) column[c * width] = lane < used ? filter[c * filters.c_step] : 0.0f;
          }
        }
      }
    }
  }
}

// One value for each channel, in the order of the panels' lanes; zeros for null and behind the channels.
const float* pack_lanes(Workspace& workspace, const DirectConv& conv, const Panels& panels, const float* values) {
  const int lanes = panels.kernels.lanes;
  float* const packed = workspace.take<float>(panels.lanes());
  float* to = packed;
  for (int64_t i = 0; i < panels.count(); ++i) {
    const Panel panel = panels[i];
    for (int j = 0; j < panel.vectors; ++j) {
      const int start = vector_start(panel.channels, panel.vectors, j, lanes);
      for (int lane = 0; lane < lanes; ++lane, ++to) {
        const bool used = values && start + lane < panel.channels;
        *to = used ? values[int64_t{panel.group} * conv.k + panel.first + start + lane] : 0.0f;
      }
    }
  }
  return packed;
}

}  // namespace

void pack_filters(Context& context, const DirectConv& conv, const FilterView& filters, float* to) {
  Panels panels(direct_kernels(context), conv);
  panels.weights = to;
  const int64_t chunks = std::min<int64_t>(panels.count(), chunk_count(panels.size(), kChunkElements));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(panels.count(), chunks, chunk);
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Panel panel = panels[i];
      pack_panel(conv, filters, panels.kernels.lanes, panel, to + (panel.weights - panels.weights));
    }
  });
}

void pack_epilogue(Workspace& workspace, const DirectConv& conv, const Epilogue<float>* epilogue, Panels& panels) {
  const float* bias = epilogue ? epilogue->bias : nullptr;
  const float* scale = epilogue ? epilogue->scale : nullptr;
  panels.start = pack_lanes(workspace, conv, panels, scale ? nullptr : bias);
  if (!scale) return;
  panels.scale = pack_lanes(workspace, conv, panels, scale);
  panels.shift = pack_lanes(workspace, conv, panels, bias);
}

}  // namespace dnn::cpu
