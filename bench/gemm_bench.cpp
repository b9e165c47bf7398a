// SGEMM of every CPU row on squares, on the dense layers of nets and on their gradients, and on batches of products.
#include <bench/machine.h>
#include <kernels/verbose.h>

namespace dnn::bench {
namespace {

GemmShape shape_of(int m, int n, int k, bool trans_a = false, bool trans_b = false) {
  GemmShape shape;
  shape.m = m, shape.n = n, shape.k = k;
  shape.trans_a = trans_a, shape.trans_b = trans_b;
  return shape;
}

const GemmShape kShapes[] = {
    shape_of(512, 512, 512),
    shape_of(1024, 1024, 1024),
    shape_of(1024, 1024, 1024, true, false),
    shape_of(1024, 1024, 1024, false, true),
    shape_of(2048, 2048, 2048),
    shape_of(32, 4096, 9216, false, true),  // AlexNet's first dense layer, batch 32: output, gradients
    shape_of(32, 9216, 4096),
    shape_of(4096, 9216, 32, true, false),
    shape_of(1, 1000, 4096, false, true),
    shape_of(1, 4096, 1000),
    shape_of(64, 500, 800, false, true),  // LeNet, batch 64
    shape_of(64, 800, 500),
    shape_of(500, 800, 64, true, false),
    shape_of(64, 10, 500, false, true),
    shape_of(64, 500, 10),
    shape_of(10, 500, 64, true, false),
    shape_of(64, 27, 50176, true, false),  // few sums, long ones
};

GemmShape batch_of(int64_t batch, GemmShape shape) {
  shape.batch = batch;
  shape.a_stride = int64_t{shape.m} * shape.k, shape.b_stride = int64_t{shape.k} * shape.n;
  return shape;
}

// Attention's products of 12 heads, batch 8, and smaller ones.
const GemmShape kBatches[] = {
    batch_of(96, shape_of(197, 197, 64, false, true)),
    batch_of(96, shape_of(197, 64, 197)),
    batch_of(1000, shape_of(8, 8, 8)),
    batch_of(256, shape_of(32, 32, 32)),
    batch_of(4, shape_of(512, 512, 512)),
};

void run(benchmark::State& state, const Backend& row, const GemmShape& shape) {
  Context context(row);
  const Array a(row, shape.batch * shape.m * shape.k, 1), b(row, shape.batch * shape.k * shape.n, 2);
  const Array c(row, shape.batch * shape.m * shape.n, 3);
  measure(state, context, shape.flops(), static_cast<double>(shape.bytes(4)),
          [&] { row.f32.gemm(context, shape, a.get(), b.get(), {}, c.get()); });
}

void run_epilogue(benchmark::State& state, const Backend& row, const GemmShape& shape, const Activation& activation) {
  Context context(row);
  const Array a(row, int64_t{shape.m} * shape.k, 1), b(row, int64_t{shape.k} * shape.n, 2), bias(row, shape.n, 4);
  const Array c(row, int64_t{shape.m} * shape.n, 3), residual(row, int64_t{shape.m} * shape.n, 5);
  measure(state, context, shape.flops(), static_cast<double>(shape.bytes(4)), [&] {
    row.f32.gemm(context, shape, a.get(), b.get(), {bias.get(), residual.get(), activation}, c.get());
  });
}

void run_packed(benchmark::State& state, const Backend& row, const GemmShape& shape) {
  Context context(row);
  const Array a(row, int64_t{shape.m} * shape.k, 1), b(row, int64_t{shape.k} * shape.n, 2);
  const Array c(row, int64_t{shape.m} * shape.n, 3);
  const Array packed(row, row.f32.gemm_packed_size(context, shape));
  row.f32.gemm_pack_b(context, shape, b.get(), packed.get());
  measure(state, context, shape.flops(), static_cast<double>(shape.bytes(4)),
          [&] { row.f32.gemm_packed_b(context, shape, a.get(), packed.get(), {}, c.get()); });
}

}  // namespace

void register_benchmarks(int) {
  for (const Backend* row : cpu_rows()) {
    for (const GemmShape& shape : kBatches) {
      add("gemm/" + describe(shape) + "/" + row->name, [=](benchmark::State& state) { run(state, *row, shape); });
    }
    for (const GemmShape& shape : {shape_of(1024, 1024, 64), shape_of(64, 500, 800, false, true)}) {
      const auto add_epilogue = [&](const char* name, const Activation& activation) {
        add("gemm_residual_" + (name + ("/" + describe(shape))) + "/" + row->name,
            [=](benchmark::State& state) { run_epilogue(state, *row, shape, activation); });
      };
      add_epilogue("relu", Activation::relu);
      add_epilogue("gelu", Activation::gelu);
    }
    for (const GemmShape& shape : kShapes) {
      add("gemm/" + describe(shape) + "/" + row->name, [=](benchmark::State& state) { run(state, *row, shape); });
      add("gemm_packed_b/" + describe(shape) + "/" + row->name,
          [=](benchmark::State& state) { run_packed(state, *row, shape); });
    }
  }
}

}  // namespace dnn::bench
