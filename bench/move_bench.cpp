// The kernels that move elements: transposes, slices, casts, concat, padding, embeddings. GB/s count what one pass must
// read and write.
#include <bench/kernel.h>

#include <tuple>

namespace dnn::bench {
namespace {

// y's dimension i is x's dimension axes[i].
void add_transpose(const std::string& name, const std::vector<int64_t>& size, const std::vector<size_t>& axes) {
  std::vector<int64_t> dense(size.size());
  int64_t count = 1;
  for (size_t i = size.size(); i-- > 0; count *= size[i]) dense[i] = count;
  StridedShape s;
  int64_t step = 1;
  for (size_t i = axes.size(); i-- > 0; step *= size[axes[i]]) {
    s.size[i] = size[axes[i]];
    s.x_stride[i] = dense[axes[i]];
    s.y_stride[i] = step;
  }
  s.dims = static_cast<int>(axes.size());
  add_kernel("transpose/" + name, {count, count}, 2.0 * static_cast<double>(count),
             [=](Context& context, Table, Arrays a) {
               context.backend.raw.copy_strided(context, s, sizeof(float), a[0], a[1]);
             });
}

// Every second picture of `rows` of `cols`; and `rows` of them repeated along a dimension in front.
void add_copies(const std::string& name, int64_t rows, int64_t cols) {
  const int64_t count = rows * cols;
  const double n = static_cast<double>(count);
  const StridedShape slice{2, {rows / 2, cols}, {2 * cols, 1}, {cols, 1}},
      repeat{2, {2, count / 2}, {0, 1}, {count / 2, 1}};
  const StridedShape even{1, {count / 2}, {2}, {1}};
  for (const auto& [what, shape, traffic] :
       {std::tuple("slice/", slice, n), {"slice_step_2/", even, n}, {"expand/", repeat, 1.5 * n}}) {
    add_kernel(what + name, {count, count}, traffic, [shape = shape](Context& context, Table, Arrays a) {
      context.backend.raw.copy_strided(context, shape, sizeof(float), a[0], a[1]);
    });
  }
  add_kernel("fill/" + name, {count}, n, [=](Context& context, Table, Arrays a) {
    context.backend.raw.fill(context, sizeof(float), count, 0x3f800000, a[0]);
  });
  for (const DType other : {DType::float16, DType::bfloat16, DType::uint8, DType::int32}) {
    const double traffic = n * (4 + size_of(other)) / 4;
    add_kernel(std::string("cast_to_") + name_of(other) + "/" + name, {count, count}, traffic,
               [=](Context& context, Table, Arrays a) {
                 context.backend.raw.cast(context, DType::float32, other, count, a[0], a[1]);
               });
    add_kernel(std::string("cast_from_") + name_of(other) + "/" + name, {count, count}, traffic,
               [=](Context& context, Table, Arrays a) {
                 context.backend.raw.cast(context, other, DType::float32, count, a[0], a[1]);
               });
  }
}

// An embedding: `count` words out of `size`, of `inner` numbers each, and its gradient.
void add_gather(const std::string& name, const GatherShape& s) {
  const int64_t rows = s.size * s.inner, count = s.count * s.inner;
  std::vector<int32_t> index(static_cast<size_t>(s.count));
  for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int32_t>(i * 7919 % static_cast<size_t>(s.size));
  add_kernel("gather_rows/" + name, {rows, count}, 2.0 * static_cast<double>(count),
             [=](Context& context, Table, Arrays a) {
               context.backend.raw.gather_rows(context, s, sizeof(float), a[0], index.data(), a[1]);
             });
  add_kernel("scatter_add/" + name, {rows, count}, 3.0 * static_cast<double>(count),
             [=](Context& context, Table k, Arrays a) { k.scatter_add(context, s, a[1], index.data(), a[0]); });
}

void add_pad(const std::string& name, const Pad2dShape& p) {
  const int64_t x = int64_t{p.n} * p.h * p.w * p.c, y = int64_t{p.n} * p.oh() * p.ow() * p.c;
  add_kernel("pad2d/" + name, {x, y}, static_cast<double>(x + y),
             [=](Context& context, Table k, Arrays a) { k.pad2d(context, p, 0, a[0], a[1]); });
}

// The branches of GoogLeNet's first block joined to 256 channels.
void add_concat(int batch) {
  const int64_t rows = int64_t{batch} * 28 * 28;
  add_kernel("concat/64+128+32+32", {rows * 64, rows * 128, rows * 32, rows * 32, rows * 256}, 512.0 * rows,
             [=](Context& context, Table, Arrays a) {
               int64_t at = 0;
               for (const auto& [part, cols] : {std::pair(a[0], 64), {a[1], 128}, {a[2], 32}, {a[3], 32}}) {
                 const StridedShape place{2, {rows, cols}, {cols, 1}, {256, 1}};
                 context.backend.raw.copy_strided(context, place, sizeof(float), part, a[4] + at);
                 at += cols;
               }
             });
}

}  // namespace

void register_benchmarks(int batch) {
  const int mnist = 2 * batch;  // 64 where the others have 32
  add_transpose("NHWC to NCHW 55x55x96", {batch, 55, 55, 96}, {0, 3, 1, 2});
  add_transpose("NCHW to NHWC 55x55x96", {batch, 96, 55, 55}, {0, 2, 3, 1});
  add_transpose("NCHW to NHWC 224x224x3", {batch, 3, 224, 224}, {0, 2, 3, 1});
  add_transpose("NHWC to NCHW 4x4x50", {mnist, 4, 4, 50}, {0, 3, 1, 2});
  add_transpose("4096x4096", {4096, 4096}, {1, 0});
  add_copies("55x55x96", batch, int64_t{55} * 55 * 96);
  add_copies("4x4x50", mnist, 4 * 4 * 50);
  add_gather("4096 of 50000x512", {1, 50000, 4096, 512});
  add_gather("100000 of 1000x8", {1, 1000, 100000, 8});
  add_pad("55x55x96 by 1", {batch, 55, 55, 96, 1, 1, 1, 1});
  add_concat(batch);
}

}  // namespace dnn::bench
