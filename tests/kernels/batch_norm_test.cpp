#include "fused.h"

namespace dnn::test {
namespace {

TEST_CASE("batch norm: values by hand", "[batch_norm]") {
  BatchNormParams params;
  params.eps = 0;
  const RowsShape shape{4, 2};
  // Mean 2.5 and 0, variance 1.25 and 1.
  const Buffer<float> x({1, -1, 2, 1, 3, -1, 4, 1}), weight({2, 3}), bias({1, -1});
  const Buffer<float> dy({1, 1, 0, 0, 0, 0, 0, 0});
  for (const Backend* row : rows_with(&Kernels<float>::batch_norm_forward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> running_mean({1, 0}), running_var({2, 0}), y(8), mean(2), inv_std(2);
    row->f32.batch_norm_forward(context, shape, params, {bias.get(), nullptr, Activation::none, weight.get()},
                                {.x = x.get(),
                                 .running_mean = running_mean.get(),
                                 .running_var = running_var.get(),
                                 .y = y.get(),
                                 .mean = mean.get(),
                                 .inv_std = inv_std.get()});
    check_values<float>(y, {-1.683282f, -4, 0.105573f, 2, 1.894427f, -4, 3.683282f, 2});
    check_values<float>(mean, {2.5f, 0});
    check_values<float>(inv_std, {0.894427f, 1});
    check_values<float>(running_mean, {1.15f, 0});
    check_values<float>(running_var, {1.966667f, 0.133333f});  // 0.9 * 2 + 0.1 * 5 / 3

    // dx = weight * inv_std * (dy - mean of dy - v * mean of dy * v), v the normalised x
    Buffer<float> dx(8), dweight(2), dbias(2);
    row->f32.batch_norm_backward(context, shape, params, Activation::none,
                                 {.x = x.get(),
                                  .mean = mean.get(),
                                  .inv_std = inv_std.get(),
                                  .weight = weight.get(),
                                  .bias = bias.get(),
                                  .dy = dy.get(),
                                  .dx = dx.get(),
                                  .dweight = dweight.get(),
                                  .dbias = dbias.get()});
    check_values<float>(dx, {0.536656f, 1.5f, -0.715542f, 0, -0.178885f, -1.5f, 0.357771f, 0});
    check_values<float>(dweight, {-1.341641f, -1});
    check_values<float>(dbias, {1, 1});

    // With running statistics, a residual and an activation.
    BatchNormParams eval = params;
    eval.training = false;
    const Buffer<float> residual({0, 0, 0, 0, 0, 10, 0, 0});
    running_mean = Buffer<float>({2, 0}), running_var = Buffer<float>({4, 1});
    row->f32.batch_norm_forward(context, shape, eval, {bias.get(), residual.get(), Activation::relu, weight.get()},
                                {.x = x.get(),
                                 .running_mean = running_mean.get(),
                                 .running_var = running_var.get(),
                                 .y = y.get(),
                                 .mean = mean.get(),
                                 .inv_std = inv_std.get()});
    check_values<float>(y, {0, 0, 1, 2, 2, 6, 3, 2});
    check_values<float>(running_mean, {2, 0});
    check_values<float>(inv_std, {0.5f, 1});
    Buffer<float> dresidual(8);
    const Buffer<float> ones(8, 1);
    row->f32.batch_norm_backward(context, shape, eval, Activation::relu,
                                 {.x = x.get(),
                                  .mean = mean.get(),
                                  .inv_std = inv_std.get(),
                                  .weight = weight.get(),
                                  .bias = bias.get(),
                                  .y = y.get(),
                                  .dy = ones.get(),
                                  .dx = dx.get(),
                                  .dresidual = dresidual.get(),
                                  .dweight = dweight.get(),
                                  .dbias = dbias.get()});
    check_values<float>(dresidual, {0, 0, 1, 1, 1, 1, 1, 1});
    check_values<float>(dx, {0, 0, 1, 3, 1, 3, 1, 3});
    check_values<float>(dweight, {1.5f, 1});
    check_values<float>(dbias, {3, 3});
  }
}

struct Operands {
  Buffer<float> x, weight, bias, residual, running_mean, running_var, dy;

  // Column c has mean c * 0.3 - 1 and a spread of about 0.6 * (1 + c % 3).
  explicit Operands(const RowsShape& shape)
      : x(Buffer<float>::random(shape.count(), 1)),
        weight(Buffer<float>::random(shape.cols, 2)),
        bias(Buffer<float>::random(shape.cols, 3)),
        residual(Buffer<float>::random(shape.count(), 4)),
        running_mean(Buffer<float>::random(shape.cols, 5)),
        running_var(Buffer<float>::random(shape.cols, 6)),
        dy(Buffer<float>::random(shape.count(), 7)) {
    for (int64_t i = 0; i < shape.count(); ++i) {
      const int c = static_cast<int>(i % shape.cols);
      x[i] = x[i] * static_cast<float>(1 + c % 3) + 0.3f * static_cast<float>(c % 11) - 1;
    }
    for (int c = 0; c < shape.cols; ++c) running_var[c] += 1.5f;
  }
};

struct Results {
  Buffer<double> y, running_mean, running_var, mean, inv_std, dx, dresidual, dweight, dbias;
};

enum class Form { plain, residual };

// Forward and backward in T. The way back starts from the float statistics and results in `given`, where there are any.
template <class T>
Results run(const Backend& row, const RowsShape& shape, const BatchNormParams& params, Activation activation, Form form,
            const Operands& in, const Results* given) {
  const Kernels<T>& k = row.kernels<T>();
  Context context(row);
  const auto x = convert<T>(in.x), weight = convert<T>(in.weight), bias = convert<T>(in.bias);
  const auto residual = convert<T>(in.residual), dy = convert<T>(in.dy);
  auto running_mean = convert<T>(in.running_mean), running_var = convert<T>(in.running_var);
  Buffer<T> y(shape.count()), mean(shape.cols), inv_std(shape.cols);
  const bool with_residual = form == Form::residual;
  k.batch_norm_forward(context, shape, params,
                       {bias.get(), with_residual ? residual.get() : nullptr, activation, weight.get()},
                       {.x = x.get(),
                        .running_mean = running_mean.get(),
                        .running_var = running_var.get(),
                        .y = y.get(),
                        .mean = mean.get(),
                        .inv_std = inv_std.get()});
  Results results{convert<double>(y),
                  convert<double>(running_mean),
                  convert<double>(running_var),
                  convert<double>(mean),
                  convert<double>(inv_std),
                  Buffer<double>(shape.count()),
                  Buffer<double>(shape.count()),
                  Buffer<double>(shape.cols),
                  Buffer<double>(shape.cols)};
  for (const Buffer<T>* buffer : {&y, &running_mean, &running_var, &mean, &inv_std}) buffer->check_guards();
  const Results& from = given ? *given : results;
  const auto mean0 = convert<T>(from.mean), inv_std0 = convert<T>(from.inv_std), y0 = convert<T>(from.y);
  Buffer<T> dx(shape.count()), dresidual(shape.count()), dweight(shape.cols), dbias(shape.cols);
  k.batch_norm_backward(context, shape, params, activation,
                        {.x = x.get(),
                         .mean = mean0.get(),
                         .inv_std = inv_std0.get(),
                         .weight = weight.get(),
                         .bias = bias.get(),
                         .y = with_residual ? y0.get() : nullptr,
                         .dy = dy.get(),
                         .dx = dx.get(),
                         .dresidual = with_residual ? dresidual.get() : nullptr,
                         .dweight = dweight.get(),
                         .dbias = dbias.get()});
  for (const Buffer<T>* buffer : {&dx, &dresidual, &dweight, &dbias}) buffer->check_guards();
  results.dx = convert<double>(dx), results.dresidual = convert<double>(dresidual);
  results.dweight = convert<double>(dweight), results.dbias = convert<double>(dbias);
  return results;
}

// The same gradients in place of dy, and without those that nobody wants.
void check_in_place(const Backend& row, const RowsShape& shape, const BatchNormParams& params, Activation activation,
                    const Operands& in, const Results& expected) {
  Context context(row);
  const auto mean = convert<float>(expected.mean), inv_std = convert<float>(expected.inv_std);
  const auto y = convert<float>(expected.y);
  Buffer<float> dx = in.dy;
  row.f32.batch_norm_backward(context, shape, params, activation,
                              {.x = in.x.get(),
                               .mean = mean.get(),
                               .inv_std = inv_std.get(),
                               .weight = in.weight.get(),
                               .bias = in.bias.get(),
                               .y = y.get(),
                               .dy = dx.get(),
                               .dx = dx.get()});
  dx.check_guards();
  CHECK(convert<double>(dx).values() == expected.dx.values());
  Buffer<float> dresidual = in.dy, dx2(shape.count());
  row.f32.batch_norm_backward(context, shape, params, activation,
                              {.x = in.x.get(),
                               .mean = mean.get(),
                               .inv_std = inv_std.get(),
                               .weight = in.weight.get(),
                               .bias = in.bias.get(),
                               .y = y.get(),
                               .dy = dresidual.get(),
                               .dx = dx2.get(),
                               .dresidual = dresidual.get()});
  CHECK(convert<double>(dresidual).values() == expected.dresidual.values());
  CHECK(convert<double>(dx2).values() == expected.dx.values());
}

// Each result's sum of magnitudes.
Results bounds_of(const RowsShape& shape, const BatchNormParams& params, const Activation& activation, Form form,
                  const Operands& in, const Results& exact) {
  Results sums = exact;
  const double n = static_cast<double>(shape.rows), steep = steepest(activation);
  for (int c = 0; c < shape.cols; ++c) {
    double mean = 0, dz_sum = 0, product = 0;
    const double inv_std = exact.inv_std[c], weight = std::abs(in.weight[c]), center = std::abs(exact.mean[c]);
    const auto v = [&](int64_t i) { return (std::abs(in.x[i]) + center) * inv_std; };
    const auto z = [&](int64_t i) {
      const double added = form == Form::residual ? std::abs(in.residual[i]) : 0;
      return v(i) * weight + std::abs(in.bias[c]) + added;
    };
    // The slope's error follows from that of z.
    const auto dz = [&](int64_t i) {
      return steep * std::abs(in.dy[i]) * (activation == Activation::none ? 1 : 1 + z(i));
    };
    for (int64_t i = c; i < shape.count(); i += shape.cols) {
      mean += std::abs(in.x[i]) / n;
      dz_sum += dz(i);
      product += dz(i) * v(i);
    }
    for (int64_t i = c; i < shape.count(); i += shape.cols) {
      sums.y[i] = steep * z(i) + std::abs(exact.y[i]);
      sums.dresidual[i] = dz(i);
      sums.dx[i] = weight * inv_std * (dz(i) + (params.training ? (dz_sum + v(i) * product) / n : 0));
    }
    sums.mean[c] = params.training ? mean : center;
    sums.running_mean[c] = mean + std::abs(in.running_mean[c]);
    sums.dbias[c] = dz_sum;
    sums.dweight[c] = product;
  }
  return sums;
}

void check_row(const Backend& row, const RowsShape& shape, const BatchNormParams& params, const Activation& activation,
               Form form) {
  INFO(row.name << ", " << shape.rows << " rows of " << shape.cols << ", " << text(activation)
                << (form == Form::residual ? ", residual" : "") << (params.training ? "" : ", eval"));
  const Operands in(shape);
  const Results y = run<float>(row, shape, params, activation, form, in, nullptr);
  const Results y64 = run<double>(reference_row(), shape, params, activation, form, in, &y);
  const Results sums = bounds_of(shape, params, activation, form, in, y64);
  check_close(convert<float>(y.mean), y64.mean, sums.mean, 1);
  check_close(convert<float>(y.inv_std), y64.inv_std, y64.inv_std, 1);
  check_close(convert<float>(y.running_mean), y64.running_mean, sums.running_mean, 1);
  check_close(convert<float>(y.running_var), y64.running_var, y64.running_var, 1);
  check_close(convert<float>(y.y), y64.y, sums.y, 1);
  constexpr double kLength = 4;  // the sums of rows are nearly exact
  check_close(convert<float>(y.dbias), y64.dbias, sums.dbias, kLength);
  check_close(convert<float>(y.dweight), y64.dweight, sums.dweight, kLength);
  check_close(convert<float>(y.dx), y64.dx, sums.dx, kLength);
  if (form == Form::residual) {
    check_close(convert<float>(y.dresidual), y64.dresidual, sums.dresidual, 1);
    check_in_place(row, shape, params, activation, in, y);
  }
}

TEST_CASE("batch norm: every row against the reference", "[batch_norm]") {
  BatchNormParams training, eval;
  eval.training = false;
  training.momentum = eval.momentum = 0.3;
  for (const Backend* row : rows_with(&Kernels<float>::batch_norm_forward)) {
    for (const BatchNormParams& params : {training, eval}) {
      for (const int cols : odd_sizes()) {
        for (const int64_t count : {2, 3, 67, 1030}) {
          check_row(*row, {count, cols}, params, Activation::relu, Form::plain);
          check_row(*row, {count, cols}, params, Activation::relu, Form::residual);
          check_row(*row, {count, cols}, params, Activation::leaky_relu(0.1), Form::residual);
        }
      }
      for (const RowsShape& shape : {RowsShape{9, 3000}, {700, 130}, {10011, 16}, {70001, 3}, {600, 520}}) {
        check_row(*row, shape, params, Activation::none, Form::plain);
        check_row(*row, shape, params, Activation::relu, Form::residual);
        check_row(*row, shape, params, Activation::mish, Form::plain);
      }
      for (const Activation& activation : every_activation()) {
        check_row(*row, {67, 19}, params, activation, Form::plain);
        if (slope_from_output(activation)) check_row(*row, {67, 19}, params, activation, Form::residual);
      }
    }
  }
}

TEST_CASE("batch norm: statistics of a large mean", "[batch_norm]") {
  for (const RowsShape& shape : {RowsShape{50000, 5}, {3000, 150}, {60, 40}}) {
    // Mean 1000, deviation about 0.6; with a border the first row is 0.
    for (const bool border : {false, true}) {
      Buffer<float> x = Buffer<float>::random(shape.count(), 1);
      for (int64_t i = 0; i < shape.count(); ++i) x[i] = border && i < shape.cols ? 0.0f : x[i] + 1000;
      const auto x64 = convert<double>(x);
      Buffer<double> y64(shape.count()), mean64(shape.cols), inv_std64(shape.cols), var64(shape.cols, 0);
      Context reference(reference_row());
      BatchNormParams params;
      params.momentum = 1;
      reference_row().f64.batch_norm_forward(reference, shape, params, {},
                                             {.x = x64.get(),
                                              .running_var = var64.get(),
                                              .y = y64.get(),
                                              .mean = mean64.get(),
                                              .inv_std = inv_std64.get()});
      for (const Backend* row : rows_with(&Kernels<float>::batch_norm_forward)) {
        INFO(row->name << ", " << shape.rows << " rows of " << shape.cols << (border ? ", border" : ""));
        Context context(*row);
        Buffer<float> y(shape.count()), mean(shape.cols), inv_std(shape.cols), var(shape.cols, 0);
        row->f32.batch_norm_forward(
            context, shape, params, {},
            {.x = x.get(), .running_var = var.get(), .y = y.get(), .mean = mean.get(), .inv_std = inv_std.get()});
        check_close(mean, mean64, mean64, 1);
        check_close(inv_std, inv_std64, inv_std64, 1);
        check_close(var, var64, var64, 1);
        Buffer<double> scale = absolute(y64);
        for (int64_t i = 0; i < scale.size(); ++i) scale[i] += 1;
        check_close(y, y64, scale, 1);
      }
    }
  }
}

TEST_CASE("batch norm: a constant column, and no rows", "[batch_norm]") {
  for (const Backend* row : rows_with(&Kernels<float>::batch_norm_forward)) {
    INFO(row->name);
    Context context(*row);
    const RowsShape shape{1001, 3};
    const Buffer<float> x(shape.count(), 0.1f), bias({1, 2, 3});
    Buffer<float> y(shape.count()), mean(3), inv_std(3), running_mean(3, 5), running_var(3, 6);
    row->f32.batch_norm_forward(context, shape, {}, {bias.get(), nullptr, Activation::none},
                                {.x = x.get(), .y = y.get(), .mean = mean.get(), .inv_std = inv_std.get()});
    for (int64_t i = 0; i < y.size(); ++i) REQUIRE(std::abs(y[i] - bias[i % 3]) < 1e-4f);
    row->f32.batch_norm_forward(context, {0, 3}, {}, {},
                                {.running_mean = running_mean.get(),
                                 .running_var = running_var.get(),
                                 .mean = mean.get(),
                                 .inv_std = inv_std.get()});
    check_values<float>(running_mean, {5, 5, 5});
    check_values<float>(running_var, {6, 6, 6});
    Buffer<float> dweight(3), dbias(3);
    row->f32.batch_norm_backward(
        context, {0, 3}, {}, Activation::none,
        {.mean = mean.get(), .inv_std = inv_std.get(), .dweight = dweight.get(), .dbias = dbias.get()});
    check_values<float>(dweight, {0, 0, 0});
    check_values<float>(dbias, {0, 0, 0});
  }
}

TEST_CASE("batch norm: a NaN stays in its column", "[batch_norm]") {
  for (const Backend* row : rows_with(&Kernels<float>::batch_norm_forward)) {
    INFO(row->name);
    Context context(*row);
    const RowsShape shape{100, 3};
    Buffer<float> x = Buffer<float>::random(shape.count(), 1), y(shape.count()), mean(3), inv_std(3);
    x[100] = std::nanf("");
    row->f32.batch_norm_forward(context, shape, {}, {nullptr, nullptr, Activation::relu},
                                {.x = x.get(), .y = y.get(), .mean = mean.get(), .inv_std = inv_std.get()});
    for (int64_t i = 0; i < y.size(); ++i) REQUIRE(std::isnan(y[i]) == (i % 3 == 1));
  }
}

TEST_CASE("batch norm: one and several threads give the same bits", "[batch_norm]") {
  BatchNormParams eval;
  eval.training = false;
  for (const Backend* row : rows_with(&Kernels<float>::batch_norm_forward)) {
    for (const RowsShape& shape : {RowsShape{20011, 37}, {40, 5000}, {1100, 130}}) {
      for (const BatchNormParams& params : {BatchNormParams(), eval}) {
        const Operands in(shape);
        std::vector<Results> of_threads;
        const int before = num_threads();
        for (const int threads : {1, 2, 3}) {
          set_num_threads(threads);
          of_threads.push_back(run<float>(*row, shape, params, Activation::relu, Form::residual, in, nullptr));
        }
        set_num_threads(before);
        for (const Results& r : of_threads) {
          INFO(row->name << ", " << shape.rows << " rows of " << shape.cols);
          CHECK(r.y.values() == of_threads[0].y.values());
          CHECK(r.running_var.values() == of_threads[0].running_var.values());
          CHECK(r.dx.values() == of_threads[0].dx.values());
          CHECK(r.dweight.values() == of_threads[0].dweight.values());
          CHECK(r.dbias.values() == of_threads[0].dbias.values());
        }
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
