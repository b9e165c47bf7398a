#include <kernels/cpu/strided_plan.h>
#include <kernels/cuda/kernels.h>
#include <kernels/cuda/pair_index.cuh>
#include <kernels/cuda/vectors.cuh>

namespace dnn::cuda {

struct alignas(16) Bytes16 {
  uint64_t part[2];
};

// Elements from one place to another: y[y place of i] = x[x place of i], i in the order of y.
template <class T>
__global__ void __launch_bounds__(kBlock) copy_strided_kernel(PairIndex index, uint32_t count, const T* x, T* y) {
  const auto step = static_cast<uint32_t>(grid_threads());
#pragma unroll 1
  for (auto i = static_cast<uint32_t>(grid_thread()); i < count; i += step) {
    const auto place = index.at(i);
    y[place.second] = x[place.first];  // emu: strides as they come
  }
}

constexpr int kTile = 32, kTileRows = kBlock / kTile;  // that a block moves at a time

// Matrices, each x_pitch apart from row to row, of which x has rows where y has columns.
struct Transposition {
  int64_t rows = 0, cols = 0;  // of y
  int64_t x_pitch = 0, y_pitch = 0;
  PairIndex matrices;
  Divider tiles, tiles_across;  // of a matrix, of one row of tiles in y
};

// Matrices transposed: y[row * y_pitch + col] = x[col * x_pitch + row]. Both sides are read and written along their
// rows, by way of a tile in shared memory, whose rows are a word longer so that the lanes of a warp, which read a
// column, are in different banks.
template <class T>
__global__ void __launch_bounds__(kBlock) transpose_kernel(Transposition t, const T* x, T* y) {
  constexpr int kPitch = kTile + (sizeof(T) < 4 ? 4 / sizeof(T) : 1);
  EMU_SHARED(T, tile, [kTile][kPitch]);
  const auto [matrix, tile_number] = t.tiles.divide(blockIdx.x);
  const auto [down, across] = t.tiles_across.divide(tile_number);
  const auto place = t.matrices.at(matrix);
  const int64_t first_row = int64_t{down} * kTile, first_col = int64_t{across} * kTile;
  const int lane = static_cast<int>(threadIdx.x % kTile), line = static_cast<int>(threadIdx.x / kTile);

  const T* const from = x + place.first + first_row;
  for (int i = line; i < kTile; i += kTileRows) {
    if (first_col + i >= t.cols || first_row + lane >= t.rows) continue;
    tile[i][lane] = from[(first_col + i) * t.x_pitch + lane];
  }
  __syncthreads();
  T* const to = y + place.second + first_col;
  for (int i = line; i < kTile; i += kTileRows) {
    if (first_row + i >= t.rows || first_col + lane >= t.cols) continue;
    to[(first_row + i) * t.y_pitch + lane] = tile[lane][i];  // emu: rows of y that begin anywhere
  }
}

namespace {

using cpu::StridedPlan;

PairAxes outer_axes(const StridedPlan& plan) {
  PairAxes axes;
  for (int dim = 0; dim < plan.x_outer.dims; ++dim) {
    axes.add(plan.x_outer.size[dim], plan.x_outer.stride[dim], plan.y_outer.stride[dim]);
  }
  return axes;
}

template <class T>
void copy_elements(const Context& context, const StridedPlan& plan, const void* x, void* y) {
  PairAxes axes = outer_axes(plan);
  if (plan.planes) {
    axes.add(plan.rows, 1, plan.y_pitch);
    axes.add(plan.cols, plan.x_pitch, 1);
  } else {
    if (plan.rows > 1) axes.add(plan.rows, plan.x_pitch, plan.y_pitch);
    axes.add(plan.cols, plan.x_step, plan.y_step);
  }
  for_parts(axes, kMostPlaces, [&](const PairAxes& part, int64_t x_offset, int64_t y_offset, int64_t) {
    const int64_t count = part.count();
    launch(context, "copy_strided", copy_strided_kernel<T>, blocks_for(count), kBlock, 0, PairIndex(part),
           static_cast<uint32_t>(count), static_cast<const T*>(x) + x_offset, static_cast<T*>(y) + y_offset);
  });
}

template <class T>
void transpose(const Context& context, const StridedPlan& plan, const void* x, void* y) {
  const int64_t down = (plan.rows + kTile - 1) / kTile, across = (plan.cols + kTile - 1) / kTile;
  for_parts(outer_axes(plan), kMostPlaces / (down * across),
            [&](const PairAxes& part, int64_t x_offset, int64_t y_offset, int64_t) {
              const Transposition t{plan.rows,      plan.cols,       plan.x_pitch,
                                    plan.y_pitch,   PairIndex(part), Divider(down * across),
                                    Divider(across)};
              launch(context, "copy_strided", transpose_kernel<T>, static_cast<unsigned>(part.count() * down * across),
                     kBlock, 0, t, static_cast<const T*>(x) + x_offset, static_cast<T*>(y) + y_offset);
            });
}

template <class T>
void copy_as(const Context& context, const StridedPlan& plan, const void* x, void* y) {
  constexpr int64_t kNarrow = 8;  // narrower matrices would leave most of a tile empty
  const bool tiles = plan.planes && plan.rows >= kNarrow && plan.cols >= kNarrow;
  tiles ? transpose<T>(context, plan, x, y) : copy_elements<T>(context, plan, x, y);
}

// Rows of bytes, in the widest units that all of them, and the distances between them, are whole numbers of.
void copy_rows(const Context& context, StridedPlan plan, int element_size, const void* x, void* y) {
  auto all = static_cast<int64_t>(reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y));
  plan.rescale([&](int64_t elements) {
    all |= elements * element_size;
    return elements * element_size;
  });
  const auto in_units = [&](int64_t size) {
    if (all % size != 0) return false;
    plan.rescale([=](int64_t bytes) { return bytes / size; });
    return true;
  };
  if (in_units(sizeof(Bytes16))) return copy_elements<Bytes16>(context, plan, x, y);
  if (in_units(sizeof(uint64_t))) return copy_elements<uint64_t>(context, plan, x, y);
  if (in_units(sizeof(uint32_t))) return copy_elements<uint32_t>(context, plan, x, y);
  if (in_units(sizeof(uint16_t))) return copy_elements<uint16_t>(context, plan, x, y);
  copy_elements<uint8_t>(context, plan, x, y);
}

}  // namespace

void copy_strided(Context& context, const StridedShape& shape, int element_size, const void* x, void* y) {
  if (shape.count() == 0) return;
  const StridedPlan plan(shape);
  if (plan.dense_rows() && plan.rows == 1 && plan.x_outer.dims == 0) {
    use_device(context.ordinal);
    return check(cudaMemcpyAsync(y, x, static_cast<size_t>(plan.cols * element_size), cudaMemcpyDeviceToDevice,
                                 stream_of(context)),
                 "copy_strided");
  }
  if (plan.dense_rows()) return copy_rows(context, plan, element_size, x, y);
  switch (element_size) {
    case 1:
      return copy_as<uint8_t>(context, plan, x, y);
    case 2:
      return copy_as<uint16_t>(context, plan, x, y);
    case 4:
      return copy_as<uint32_t>(context, plan, x, y);
    default:
      return copy_as<uint64_t>(context, plan, x, y);
  }
}

}  // namespace dnn::cuda
