// Finite operands whose squares or sums a float can't hold: where the exact result is a float, every row gives it.
#include "rows.h"

namespace dnn::test {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();

// Columns of mean about `centre` and a spread about `size`.
Buffer<float> column_values(const RowsShape& shape, const std::vector<float>& centre, const std::vector<float>& size) {
  Buffer<float> x = Buffer<float>::random(shape.count(), 1);
  for (int64_t i = 0; i < shape.count(); ++i) {
    const auto c = static_cast<size_t>(i % shape.cols) % size.size();
    x[i] = x[i] * size[c] + centre[c];
  }
  return x;
}

TEST_CASE("overflow: batch norm by hand", "[overflow]") {
  const RowsShape shape{4, 1};
  const Buffer<float> x({2e19f, -2e19f, 1e19f, -1e19f}), dy({1, 0, 0, 0});
  for (const Backend* row : rows_with(&Kernels<float>::batch_norm_forward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> running_mean({1}), running_var({1}), y(4), mean(1), inv_std(1), dx(4), dweight(1), dbias(1);
    row->f32.batch_norm_forward(context, shape, {}, {},
                                {.x = x.get(),
                                 .running_mean = running_mean.get(),
                                 .running_var = running_var.get(),
                                 .y = y.get(),
                                 .mean = mean.get(),
                                 .inv_std = inv_std.get()});
    check_values<float>(y, {1.26491106f, -1.26491106f, 0.63245553f, -0.63245553f});
    check_values<float>(running_mean, {0.9f});
    CHECK(running_var[0] == Approx(0.1 * 10.0 / 3 * 1e38).epsilon(1e-6));  // of 1e39 / 3: a float only after momentum
    CHECK(inv_std[0] == Approx(1 / (1.5811388e19)).epsilon(1e-6));
    row->f32.batch_norm_backward(context, shape, {}, Activation::none,
                                 {.x = x.get(),
                                  .mean = mean.get(),
                                  .inv_std = inv_std.get(),
                                  .dy = dy.get(),
                                  .dx = dx.get(),
                                  .dweight = dweight.get(),
                                  .dbias = dbias.get()});
    // inv_std * (dy - 1 / 4 - v * v[0] / 4)
    for (int i = 0; i < 4; ++i) {
      const double v = y[i], expected = (dy[i] - 0.25 - v * y[0] / 4) / 1.5811388e19;
      CHECK(std::abs(dx[i] - expected) <= 1e-25);
    }
    check_values<float>(dweight, {1.26491106f});
    check_values<float>(dbias, {1});

    // A variance beyond float: y is right, the running variance infinite.
    const Buffer<float> pixel({0, 0, 1e38f, 0});
    row->f32.batch_norm_forward(context, shape, {}, {},
                                {.x = pixel.get(),
                                 .running_mean = running_mean.get(),
                                 .running_var = running_var.get(),
                                 .y = y.get(),
                                 .mean = mean.get(),
                                 .inv_std = inv_std.get()});
    check_values<float>(y, {-0.57735027f, -0.57735027f, 1.73205081f, -0.57735027f});
    CHECK(running_var[0] == std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("overflow: batch norm, every row against the reference", "[overflow]") {
  // The last two: differences that are no floats, and a spread that is small beside the mean.
  const std::vector<float> centre{0, 1e20f, -3e30f, 0, 1e38f, 2.5e38f, 1},
      size{1e19f, 3e19f, 1e32f, 3.4e38f, 2e38f, 1e36f, 2};
  for (const RowsShape& shape : {RowsShape{5, 7}, {300, 7}, {1000, 1}, {129, 33}, {4099, 14}}) {
    for (const Activation activation : {Activation::none, Activation::relu, Activation::silu}) {
      for (const bool with_residual : {false, true}) {
        if (with_residual && activation == Activation::silu) continue;
        const int64_t count = shape.count();
        const Buffer<float> x = column_values(shape, centre, size), dy = Buffer<float>::random(count, 3);
        const Buffer<float> weight = Buffer<float>::random(shape.cols, 4), bias = Buffer<float>::random(shape.cols, 5);
        const Buffer<float> residual = Buffer<float>::random(count, 6);
        Context reference(reference_row());
        const auto x64 = convert<double>(x), weight64 = convert<double>(weight), bias64 = convert<double>(bias);
        const auto residual64 = convert<double>(residual), dy64 = convert<double>(dy);
        Buffer<double> y64(count), mean64(shape.cols), inv_std64(shape.cols), dx64(count), dresidual64(count),
            dweight64(shape.cols), dbias64(shape.cols);
        const Kernels<double>& exact = reference_row().f64;
        exact.batch_norm_forward(reference, shape, {},
                                 {bias64.get(), with_residual ? residual64.get() : nullptr, activation, weight64.get()},
                                 {.x = x64.get(), .y = y64.get(), .mean = mean64.get(), .inv_std = inv_std64.get()});
        exact.batch_norm_backward(reference, shape, {}, activation,
                                  {.x = x64.get(),
                                   .mean = mean64.get(),
                                   .inv_std = inv_std64.get(),
                                   .weight = weight64.get(),
                                   .bias = bias64.get(),
                                   .y = with_residual ? y64.get() : nullptr,
                                   .dy = dy64.get(),
                                   .dx = dx64.get(),
                                   .dresidual = with_residual ? dresidual64.get() : nullptr,
                                   .dweight = dweight64.get(),
                                   .dbias = dbias64.get()});
        for (const Backend* row : rows_with(&Kernels<float>::batch_norm_forward)) {
          INFO(row->name << ", " << shape.rows << "x" << shape.cols << ", activation "
                         << static_cast<int>(activation.op) << ", residual " << with_residual);
          Context context(*row);
          Buffer<float> y(count), mean(shape.cols), inv_std(shape.cols), dx(count), dresidual(count),
              dweight(shape.cols), dbias(shape.cols);
          row->f32.batch_norm_forward(context, shape, {},
                                      {bias.get(), with_residual ? residual.get() : nullptr, activation, weight.get()},
                                      {.x = x.get(), .y = y.get(), .mean = mean.get(), .inv_std = inv_std.get()});
          const double sums = std::sqrt(static_cast<double>(shape.rows));
          check_close(y, y64, 4 + sums / 16, 16);
          // The same slopes on both sides: elements at a kink within rounding of 0 are those of the exact results.
          const Buffer<float> y0 = convert<float>(y64);
          row->f32.batch_norm_backward(context, shape, {}, activation,
                                       {.x = x.get(),
                                        .mean = mean.get(),
                                        .inv_std = inv_std.get(),
                                        .weight = weight.get(),
                                        .bias = bias.get(),
                                        .y = with_residual ? y0.get() : nullptr,
                                        .dy = dy.get(),
                                        .dx = dx.get(),
                                        .dresidual = with_residual ? dresidual.get() : nullptr,
                                        .dweight = dweight.get(),
                                        .dbias = dbias.get()});
          if (with_residual) check_close(dresidual, dresidual64, 1.0, 16);
          check_close(dweight, dweight64, 4 * static_cast<double>(shape.rows), 16);
          check_close(dbias, dbias64, static_cast<double>(shape.rows), 16);
          dx.check_guards();
          for (int64_t i = 0; i < count; ++i) {
            // A float of this size may be subnormal.
            const double unit = inv_std64[i % shape.cols], bound = unit * (4 + sums / 16) * 4e-6 + 1.5e-45;
            if (!(std::abs(dx[i] - dx64[i]) <= bound)) {
              FAIL("dx " << i << ": " << dx[i] << " instead of " << dx64[i] << ", allowed " << bound);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("overflow: operands that are infinite or NaN stay so", "[overflow]") {
  const float inf = std::numeric_limits<float>::infinity();
  const RowsShape shape{3, 2};
  for (const Backend* row : rows_with(&Kernels<float>::batch_norm_forward)) {
    INFO(row->name);
    Context context(*row);
    for (const float bad : {inf, -inf, std::nanf("")}) {
      const Buffer<float> x({1, 1, bad, 2, 3, 3});
      Buffer<float> y(6), mean(2), inv_std(2), total(1);
      row->f32.batch_norm_forward(context, shape, {}, {},
                                  {.x = x.get(), .y = y.get(), .mean = mean.get(), .inv_std = inv_std.get()});
      CHECK(std::isnan(y[2]));
      CHECK(y[1] == Approx(-1.2247357f));
      row->f32.reduce(context, ReduceOp::sum, {1, {6}, {true}}, 1, x.get(), total.get());
      CHECK_FALSE(std::isfinite(total[0]));
    }
  }
}

TEST_CASE("overflow: sums and means", "[overflow]") {
  for (const Backend* row : rows_with(&Kernels<float>::reduce)) {
    INFO(row->name);
    Context context(*row);
    // Of all, of rows and of columns, few and many.
    for (const auto& [rows, cols] : {std::pair(2, 3), {1, 40000}, {40000, 2}, {7, 300}, {300, 7}, {3000, 33}}) {
      INFO(rows << "x" << cols);
      const int64_t count = int64_t{rows} * cols;
      const Buffer<float> x(count, 3e38f);
      const auto check = [&](const ReduceShape& shape, double cells) {
        Buffer<float> y(shape.out_count());
        row->f32.reduce(context, ReduceOp::sum, shape, 1 / cells, x.get(), y.get());
        y.check_guards();
        for (int64_t i = 0; i < y.size(); ++i) {
          if (!(std::abs(y[i] / 3e38f - 1) <= 1e-6f)) FAIL("element " << i << ": " << y[i]);
        }
      };
      check({2, {rows, cols}, {true, true}}, static_cast<double>(count));
      check({2, {rows, cols}, {false, true}}, cols);
      check({2, {rows, cols}, {true, false}}, rows);
    }
    const Buffer<float> signs({3e38f, 3e38f, -3e38f, -3e38f});
    Buffer<float> total(1);
    row->f32.reduce(context, ReduceOp::sum, {1, {4}, {true}}, 1, signs.get(), total.get());
    CHECK(total[0] == 0);
  }
}

TEST_CASE("overflow: softmax and its losses", "[overflow]") {
  const Buffer<float> x({3e38f, -3e38f, 3e38f, 0}), dy({1, 0, 0, 0});
  const std::vector<int32_t> labels{0};
  for (const Backend* row : rows_with(&Kernels<float>::softmax_forward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(4), dx(4), loss(1);
    row->f32.softmax_forward(context, {1, 4}, x.get(), y.get());
    check_values<float>(y, {0.5f, 0, 0.5f, 0});
    row->f32.softmax_backward(context, {1, 4}, y.get(), dy.get(), dx.get());
    check_values<float>(dx, {0.25f, 0, -0.25f, 0});
    row->f32.log_softmax_forward(context, {1, 4}, x.get(), y.get());
    CHECK(y[0] == Approx(-std::log(2.0f)));
    CHECK(y[1] == -std::numeric_limits<float>::infinity());  // -6e38
    CHECK(y[3] == -3e38f);
    row->f32.log_softmax_backward(context, {1, 4}, y.get(), dy.get(), dx.get());
    check_values<float>(dx, {0.5f, 0, -0.5f, 0});
    row->f32.softmax_cross_entropy(context, {1, 4}, {}, x.get(), labels.data(), nullptr, loss.get(), dx.get());
    check_values<float>(loss, {0.69314718f});
    check_values<float>(dx, {-0.5f, 0, 0.5f, 0});
    // 6e38 for the second class; as one of four samples 1.5e38.
    Buffer<float> four(16, 0.0f), dfour(16);
    for (int i = 0; i < 4; ++i) four[i] = x[i];
    const std::vector<int32_t> second{1, 0, 0, 0};
    row->f32.softmax_cross_entropy(context, {4, 4}, {}, four.get(), second.data(), nullptr, loss.get(), dfour.get());
    CHECK(loss[0] == Approx(1.5e38).epsilon(1e-6));
    CHECK(dfour[1] == -0.25f);
  }
}

TEST_CASE("overflow: pointwise losses", "[overflow]") {
  for (const Backend* row : rows_with(&Kernels<float>::pointwise_loss)) {
    INFO(row->name);
    Context context(*row);
    const int count = 1000;
    Buffer<float> x(count, 0.0f), target(count, 0.0f), loss(1), dx(count);
    x[500] = 1e20f;
    row->f32.pointwise_loss(context, {PointwiseLoss::mse, 1, 1.0 / count}, count, x.get(), target.get(), loss.get(),
                            dx.get());
    CHECK(loss[0] == Approx(1e37).epsilon(1e-6));
    CHECK(dx[500] == Approx(2e17).epsilon(1e-6));
    for (int i = 0; i < count; ++i) x[i] = 3e38f;
    row->f32.pointwise_loss(context, {PointwiseLoss::l1, 1, 1.0 / count}, count, x.get(), target.get(), loss.get(),
                            dx.get());
    CHECK(loss[0] == Approx(3e38).epsilon(1e-6));
    x[3] = std::nanf("");
    row->f32.pointwise_loss(context, {PointwiseLoss::l1, 1, 1.0 / count}, count, x.get(), target.get(), loss.get(),
                            nullptr);
    CHECK(std::isnan(loss[0]));
  }
}

TEST_CASE("overflow: local response normalization", "[overflow]") {
  for (const double beta : {0.75, 0.5}) {
    LrnShape shape{3, 21};
    shape.beta = beta;
    Buffer<float> x = Buffer<float>::random(shape.count(), 1);
    const Buffer<float> dy = Buffer<float>::random(shape.count(), 2);
    for (int i = 0; i < 21; ++i) x[21 + i] *= i % 2 == 0 ? 1e20f : kMost;
    Context reference(reference_row());
    Buffer<double> y64(shape.count()), dx64(shape.count());
    reference_row().f64.lrn_forward(reference, shape, convert<double>(x).get(), y64.get());
    reference_row().f64.lrn_backward(reference, shape, convert<double>(x).get(), convert<double>(dy).get(), dx64.get());
    for (const Backend* row : rows_with(&Kernels<float>::lrn_forward)) {
      INFO(row->name << ", beta " << beta);
      Context context(*row);
      Buffer<float> y(shape.count()), dx(shape.count());
      row->f32.lrn_forward(context, shape, x.get(), y.get());
      row->f32.lrn_backward(context, shape, x.get(), dy.get(), dx.get());
      for (int i = 0; i < shape.count(); ++i) {
        INFO("element " << i);
        CHECK(std::abs(y[i] - y64[i]) <= 1e-5 * std::abs(y64[i]));
        CHECK(std::abs(dx[i] - dx64[i]) <= (i / 21 == 1 ? 1e-5 * std::abs(dx64[i]) + 1e-44 : 1e-5));
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
