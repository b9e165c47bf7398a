// What the tests of the single kernels leave out: arrays so large that a result is stored past the caches, and the same
// bits from any number of threads.
#include <algorithm>
#include <functional>

#include "cpu_rows.h"

namespace dnn::test {
namespace {

TEST_CASE("memory-bound kernels: results larger than the caches", "[memory_bound]") {
  constexpr int kChannels = 48;
  Pool2dShape pool;
  pool.n = 3, pool.h = 244, pool.w = 240, pool.c = kChannels;
  pool.r = pool.s = pool.stride_h = pool.stride_w = 2;
  const int64_t count = pool.x_pixels() * kChannels;
  REQUIRE(count > int64_t{8} << 20);
  for (const Backend* row : cpu_rows()) {
    INFO(row->name);
    Context context(*row);
    const Aligned x(*row, count), y(*row, count);
    for (int64_t i = 0; i < count; ++i) x.get()[i] = value_at(i);
    const Kernels<float>& k = row->f32;

    k.fill_constant(context, count, 3, y.get());
    CHECK(y.first_other_than([](int64_t) { return 3.0f; }) == -1);

    const BroadcastShape flat{1, {count}, {1}, {1}};
    k.binary(context, BinaryOp::add, flat, x.get(), x.get(), y.get());
    CHECK(y.first_other_than([](int64_t i) { return 2 * value_at(i); }) == -1);

    k.copy_rows(context, {count / kChannels, kChannels}, kChannels, x.get(), kChannels, y.get());
    CHECK(y.first_other_than(value_at) == -1);

    const Buffer<float> bias = Buffer<float>(kChannels, 0.5f);
    k.epilogue(context, {count / kChannels, kChannels}, {bias.get(), nullptr, Activation::relu}, x.get(), y.get());
    CHECK(y.first_other_than([](int64_t i) { return std::max(value_at(i) + 0.5f, 0.0f); }) == -1);

    // Dropout in place takes the other path, with the same bits.
    const Aligned in_place(*row, count);
    std::copy_n(x.get(), count, in_place.get());
    k.dropout(context, count, 0.5f, {1, 2}, x.get(), y.get());
    k.dropout(context, count, 0.5f, {1, 2}, in_place.get(), in_place.get());
    CHECK(y.first_other_than([&](int64_t i) { return in_place.get()[i]; }) == -1);

    // Every window gives its gradient to one cell, and a quarter of it to each.
    const int64_t windows = pool.y_pixels() * kChannels;
    const auto window_of = [&](int64_t i) {
      const int64_t pixel = i / kChannels, picture_row = pixel / pool.w;
      return (picture_row / 2 * (pool.w / 2) + pixel % pool.w / 2) * kChannels + i % kChannels;
    };
    const auto cell_of = [&](int64_t i) { return i / kChannels / pool.w % 2 * 2 + i / kChannels % 2; };
    std::vector<uint8_t> index(static_cast<size_t>(windows));
    for (int64_t i = 0; i < windows; ++i) index[i] = static_cast<uint8_t>(i % 4);
    k.max_pool2d_backward(context, pool, x.get(), index.data(), y.get());
    CHECK(y.first_other_than(
              [&](int64_t i) { return index[window_of(i)] == cell_of(i) ? value_at(window_of(i)) : 0.0f; }) == -1);
    k.avg_pool2d_backward(context, pool, x.get(), y.get());
    CHECK(y.first_other_than([&](int64_t i) { return value_at(window_of(i)) / 4; }) == -1);
  }
}

// Columns of mean 0 and variance 1: the normalised x is x, and an upstream gradient that no statistic sees passes as it
// is.
TEST_CASE("memory-bound kernels: a batch norm larger than the caches", "[memory_bound]") {
  const RowsShape shape{176000, 48};
  REQUIRE(shape.count() > int64_t{8} << 20);
  const auto x_at = [&](int64_t i) { return i / shape.cols % 4 < 2 ? 1.0f : -1.0f; };
  const auto dy_at = [&](int64_t i) { return i / shape.cols % 2 == 0 ? 1.0f : -1.0f; };
  BatchNormParams params;
  params.eps = 0;
  for (const Backend* row : cpu_rows()) {
    INFO(row->name);
    Context context(*row);
    const Aligned x(*row, shape.count()), y(*row, shape.count()), dy(*row, shape.count());
    for (int64_t i = 0; i < shape.count(); ++i) x.get()[i] = x_at(i), dy.get()[i] = dy_at(i);
    Buffer<float> mean(shape.cols), inv_std(shape.cols);
    const Kernels<float>& k = row->f32;
    k.batch_norm_forward(context, shape, params, x.get(), nullptr, {}, nullptr, nullptr, y.get(), mean.get(),
                         inv_std.get());
    CHECK(y.first_other_than(x_at) == -1);
    k.batch_norm_backward(context, shape, params, Activation::none, x.get(), mean.get(), inv_std.get(), nullptr,
                          nullptr, nullptr, dy.get(), y.get(), nullptr, nullptr, nullptr);
    CHECK(y.first_other_than(dy_at) == -1);
  }
}

// Overlapping windows: the sum over them goes through the caches or past them.
TEST_CASE("memory-bound kernels: large gradients of overlapping windows", "[memory_bound]") {
  Pool2dShape one;
  one.n = 1, one.h = one.w = 240, one.c = 48;
  one.r = one.s = 3, one.stride_h = one.stride_w = 2;
  Pool2dShape four = one;
  four.n = 4;
  const int64_t x_count = one.x_pixels() * one.c, y_count = one.y_pixels() * one.c;
  REQUIRE(4 * x_count > int64_t{8} << 20);
  for (const Backend* row : cpu_rows()) {
    INFO(row->name);
    Context context(*row);
    const Aligned dy(*row, 4 * y_count), small(*row, x_count), large(*row, 4 * x_count);
    std::vector<uint8_t> index(static_cast<size_t>(4 * y_count));
    for (int64_t i = 0; i < 4 * y_count; ++i) {
      dy.get()[i] = value_at(i % y_count);
      index[i] = static_cast<uint8_t>(i % y_count % 9);
    }
    const auto of_small = [&](int64_t i) { return small.get()[i % x_count]; };
    row->f32.max_pool2d_backward(context, one, dy.get(), index.data(), small.get());
    row->f32.max_pool2d_backward(context, four, dy.get(), index.data(), large.get());
    CHECK(large.first_other_than(of_small) == -1);
    row->f32.avg_pool2d_backward(context, one, dy.get(), small.get());
    row->f32.avg_pool2d_backward(context, four, dy.get(), large.get());
    CHECK(large.first_other_than(of_small) == -1);
  }
}

TEST_CASE("memory-bound kernels: one and several threads give the same bits", "[memory_bound]") {
  Pool2dShape pool;
  pool.n = 3, pool.h = 31, pool.w = 33, pool.c = 37;
  pool.r = pool.s = 3, pool.stride_h = pool.stride_w = 2, pool.pad_top = pool.pad_left = 1;
  const int64_t count = pool.x_pixels() * pool.c, windows = pool.y_pixels() * pool.c;
  const RowsShape shape{pool.x_pixels(), pool.c};
  const auto x = Buffer<float>::random(count, 1), dy = Buffer<float>::random(count, 2);
  std::vector<int32_t> labels(static_cast<size_t>(shape.rows));
  for (int64_t i = 0; i < shape.rows; ++i) labels[i] = static_cast<int32_t>(i % shape.cols);
  std::vector<uint8_t> index(static_cast<size_t>(windows));
  for (int64_t i = 0; i < windows; ++i) index[i] = static_cast<uint8_t>(i % 9);
  const ReduceShape columns{2, {shape.rows, shape.cols}, {true, false}}, all{1, {count}, {true}};
  SgdParams sgd;
  sgd.lr = 0.1, sgd.momentum = 0.9, sgd.weight_decay = 0.01;
  using Run = std::function<void(Context&, const Kernels<float>&, float*)>;
  const std::vector<std::pair<std::string, Run>> runs{
      {"max_pool2d_forward",
       [&](Context& c, const Kernels<float>& k, float* y) { k.max_pool2d_forward(c, pool, x.get(), y, nullptr); }},
      {"max_pool2d_backward", [&](Context& c, const Kernels<float>& k,
                                  float* y) { k.max_pool2d_backward(c, pool, dy.get(), index.data(), y); }},
      {"avg_pool2d_forward",
       [&](Context& c, const Kernels<float>& k, float* y) { k.avg_pool2d_forward(c, pool, x.get(), y); }},
      {"avg_pool2d_backward",
       [&](Context& c, const Kernels<float>& k, float* y) { k.avg_pool2d_backward(c, pool, dy.get(), y); }},
      {"softmax_forward",
       [&](Context& c, const Kernels<float>& k, float* y) { k.softmax_forward(c, shape, x.get(), y); }},
      {"softmax_cross_entropy",
       [&](Context& c, const Kernels<float>& k, float* y) {
         float loss = 0;
         int64_t bad_row = 0;
         k.softmax_cross_entropy(c, shape, {}, x.get(), labels.data(), nullptr, &loss, y, &bad_row);
         y[0] = loss;
       }},
      {"sum of columns",
       [&](Context& c, const Kernels<float>& k, float* y) { k.reduce(c, ReduceOp::sum, columns, 1, x.get(), y); }},
      {"sum", [&](Context& c, const Kernels<float>& k, float* y) { k.reduce(c, ReduceOp::sum, all, 1, x.get(), y); }},
      {"max", [&](Context& c, const Kernels<float>& k, float* y) { k.reduce(c, ReduceOp::max, all, 1, x.get(), y); }},
      {"moments of columns",
       [&](Context& c, const Kernels<float>& k, float* y) { k.moments(c, columns, 1, x.get(), y, y + shape.cols); }},
      {"moments", [&](Context& c, const Kernels<float>& k, float* y) { k.moments(c, all, 1, x.get(), y, y + 1); }},
      {"dropout",
       [&](Context& c, const Kernels<float>& k, float* y) {
         k.dropout(c, count, 0.3f, {5, 6}, x.get(), y);
       }},
      {"fill_uniform",
       [&](Context& c, const Kernels<float>& k, float* y) {
         k.fill_uniform(c, count, -1, 1, {5, 6}, y);
       }},
      {"fill_normal",
       [&](Context& c, const Kernels<float>& k, float* y) {
         k.fill_normal(c, count, 0, 1, {5, 6}, y);
       }},
      {"sgd_step", [&](Context& c, const Kernels<float>& k, float* y) {
         Buffer<float> velocity = dy;
         std::copy_n(x.get(), count, y);
         k.sgd_step(c, count, sgd, dy.get(), velocity.get(), y);
       }}};
  for (const Backend* row : cpu_rows()) {
    for (const auto& [name, run] : runs) {
      INFO(name);
      check_same_bits(*row, count, [&, &f = run](Context& context, float* y) { f(context, row->f32, y); });
    }
  }
}

}  // namespace
}  // namespace dnn::test
