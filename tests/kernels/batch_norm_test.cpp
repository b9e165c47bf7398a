#include "rows.h"

namespace dnn::test {
namespace {

TEST_CASE("batch norm: values by hand", "[batch_norm]") {
  BatchNormParams params;
  params.eps = 0;
  const RowsShape shape{4, 2};
  // Mean 2.5 and 0, variance 1.25 and 1.
  const Buffer<float> x({1, -1, 2, 1, 3, -1, 4, 1}), weight({2, 3}), bias({1, -1});
  const Buffer<float> dy({1, 1, 0, 0, 0, 0, 0, 0});
  for (const Backend* row : rows()) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> running_mean({1, 0}), running_var({2, 0}), y(8), mean(2), inv_std(2);
    row->f32.batch_norm_forward(context, shape, params, x.get(), weight.get(), {bias.get(), nullptr, Activation::none},
                                running_mean.get(), running_var.get(), y.get(), mean.get(), inv_std.get());
    check_values<float>(y, {-1.683282f, -4, 0.105573f, 2, 1.894427f, -4, 3.683282f, 2});
    check_values<float>(mean, {2.5f, 0});
    check_values<float>(inv_std, {0.894427f, 1});
    check_values<float>(running_mean, {1.15f, 0});
    check_values<float>(running_var, {1.966667f, 0.133333f});  // 0.9 * 2 + 0.1 * 5 / 3

    // dx = weight * inv_std * (dy - mean of dy - v * mean of dy * v), v the normalised x
    Buffer<float> dx(8), dweight(2), dbias(2);
    row->f32.batch_norm_backward(context, shape, params, Activation::none, x.get(), mean.get(), inv_std.get(),
                                 weight.get(), bias.get(), nullptr, dy.get(), dx.get(), nullptr, dweight.get(),
                                 dbias.get());
    check_values<float>(dx, {0.536656f, 1.5f, -0.715542f, 0, -0.178885f, -1.5f, 0.357771f, 0});
    check_values<float>(dweight, {-1.341641f, -1});
    check_values<float>(dbias, {1, 1});

    // With running statistics, a residual and an activation.
    BatchNormParams eval = params;
    eval.training = false;
    const Buffer<float> residual({0, 0, 0, 0, 0, 10, 0, 0});
    running_mean = Buffer<float>({2, 0}), running_var = Buffer<float>({4, 1});
    row->f32.batch_norm_forward(context, shape, eval, x.get(), weight.get(),
                                {bias.get(), residual.get(), Activation::relu}, running_mean.get(), running_var.get(),
                                y.get(), mean.get(), inv_std.get());
    check_values<float>(y, {0, 0, 1, 2, 2, 6, 3, 2});
    check_values<float>(running_mean, {2, 0});
    check_values<float>(inv_std, {0.5f, 1});
    Buffer<float> dresidual(8);
    const Buffer<float> ones(8, 1);
    row->f32.batch_norm_backward(context, shape, eval, Activation::relu, x.get(), mean.get(), inv_std.get(),
                                 weight.get(), bias.get(), y.get(), ones.get(), dx.get(), dresidual.get(),
                                 dweight.get(), dbias.get());
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
  k.batch_norm_forward(context, shape, params, x.get(), weight.get(),
                       {bias.get(), with_residual ? residual.get() : nullptr, activation}, running_mean.get(),
                       running_var.get(), y.get(), mean.get(), inv_std.get());
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
  k.batch_norm_backward(context, shape, params, activation, x.get(), mean0.get(), inv_std0.get(), weight.get(),
                        bias.get(), with_residual ? y0.get() : nullptr, dy.get(), dx.get(),
                        with_residual ? dresidual.get() : nullptr, dweight.get(), dbias.get());
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
  row.f32.batch_norm_backward(context, shape, params, activation, in.x.get(), mean.get(), inv_std.get(),
                              in.weight.get(), in.bias.get(), y.get(), dx.get(), dx.get(), nullptr, nullptr, nullptr);
  dx.check_guards();
  CHECK(convert<double>(dx).values() == expected.dx.values());
  Buffer<float> dresidual = in.dy, dx2(shape.count());
  row.f32.batch_norm_backward(context, shape, params, activation, in.x.get(), mean.get(), inv_std.get(),
                              in.weight.get(), in.bias.get(), y.get(), dresidual.get(), dx2.get(), dresidual.get(),
                              nullptr, nullptr);
  CHECK(convert<double>(dresidual).values() == expected.dresidual.values());
  CHECK(convert<double>(dx2).values() == expected.dx.values());
}

void check_row(const Backend& row, const RowsShape& shape, const BatchNormParams& params, Activation activation,
               Form form) {
  INFO(row.name << ", " << shape.rows << " rows of " << shape.cols << ", activation " << static_cast<int>(activation.op)
                << (form == Form::residual ? ", residual" : "") << (params.training ? "" : ", eval"));
  const Operands in(shape);
  const Results y = run<float>(row, shape, params, activation, form, in, nullptr);
  const Results y64 = run<double>(reference_row(), shape, params, activation, form, in, &y);
  const double n = static_cast<double>(shape.rows);
  check_close(convert<float>(y.mean), y64.mean, 4, 1);
  check_close(convert<float>(y.inv_std), y64.inv_std, y64.inv_std, 1);
  check_close(convert<float>(y.running_mean), y64.running_mean, 4, 1);
  check_close(convert<float>(y.running_var), y64.running_var, y64.running_var, 1);
  check_close(convert<float>(y.y), y64.y, 8, 1);
  check_close(convert<float>(y.dbias), y64.dbias, n, 1);
  check_close(convert<float>(y.dweight), y64.dweight, 4 * n, 1);
  // dx is a small difference where the variance is small.
  const std::vector<double> inv_stds = y.inv_std.values();
  const double steepest = *std::max_element(inv_stds.begin(), inv_stds.end());
  check_close(convert<float>(y.dx), y64.dx, 16 * std::max(1.0, steepest), 1);
  if (form == Form::residual) {
    check_close(convert<float>(y.dresidual), y64.dresidual, 1, 1);
    check_in_place(row, shape, params, activation, in, y);
  }
}

TEST_CASE("batch norm: every row against the reference", "[batch_norm]") {
  BatchNormParams training, eval;
  eval.training = false;
  training.momentum = eval.momentum = 0.3;
  for (const Backend* row : rows()) {
    for (const BatchNormParams& params : {training, eval}) {
      for (const int cols : odd_sizes()) {
        for (const int64_t count : {2, 3, 67, 1030}) {
          check_row(*row, {count, cols}, params, Activation::relu, Form::plain);
          check_row(*row, {count, cols}, params, Activation::relu, Form::residual);
        }
      }
      for (const RowsShape& shape : {RowsShape{9, 3000}, {700, 130}, {10011, 16}, {70001, 3}, {600, 520}}) {
        check_row(*row, shape, params, Activation::none, Form::plain);
        check_row(*row, shape, params, Activation::relu, Form::residual);
      }
      for (const Activation activation :
           {Activation::none, Activation::sigmoid, Activation::tanh, Activation::relu6, Activation::hardsigmoid,
            Activation::hardswish, Activation::silu, Activation::gelu}) {
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
      reference_row().f64.batch_norm_forward(reference, shape, params, x64.get(), nullptr, {}, nullptr, var64.get(),
                                             y64.get(), mean64.get(), inv_std64.get());
      for (const Backend* row : rows()) {
        INFO(row->name << ", " << shape.rows << " rows of " << shape.cols << (border ? ", border" : ""));
        Context context(*row);
        Buffer<float> y(shape.count()), mean(shape.cols), inv_std(shape.cols), var(shape.cols, 0);
        row->f32.batch_norm_forward(context, shape, params, x.get(), nullptr, {}, nullptr, var.get(), y.get(),
                                    mean.get(), inv_std.get());
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
  for (const Backend* row : rows()) {
    INFO(row->name);
    Context context(*row);
    const RowsShape shape{1001, 3};
    const Buffer<float> x(shape.count(), 0.1f), bias({1, 2, 3});
    Buffer<float> y(shape.count()), mean(3), inv_std(3), running_mean(3, 5), running_var(3, 6);
    row->f32.batch_norm_forward(context, shape, {}, x.get(), nullptr, {bias.get(), nullptr, Activation::none}, nullptr,
                                nullptr, y.get(), mean.get(), inv_std.get());
    for (int64_t i = 0; i < y.size(); ++i) REQUIRE(std::abs(y[i] - bias[i % 3]) < 1e-4f);
    row->f32.batch_norm_forward(context, {0, 3}, {}, nullptr, nullptr, {}, running_mean.get(), running_var.get(),
                                nullptr, mean.get(), inv_std.get());
    check_values<float>(running_mean, {5, 5, 5});
    check_values<float>(running_var, {6, 6, 6});
    Buffer<float> dweight(3), dbias(3);
    row->f32.batch_norm_backward(context, {0, 3}, {}, Activation::none, nullptr, mean.get(), inv_std.get(), nullptr,
                                 nullptr, nullptr, nullptr, nullptr, nullptr, dweight.get(), dbias.get());
    check_values<float>(dweight, {0, 0, 0});
    check_values<float>(dbias, {0, 0, 0});
  }
}

TEST_CASE("batch norm: a NaN stays in its column", "[batch_norm]") {
  for (const Backend* row : rows()) {
    INFO(row->name);
    Context context(*row);
    const RowsShape shape{100, 3};
    Buffer<float> x = Buffer<float>::random(shape.count(), 1), y(shape.count()), mean(3), inv_std(3);
    x[100] = std::nanf("");
    row->f32.batch_norm_forward(context, shape, {}, x.get(), nullptr, {nullptr, nullptr, Activation::relu}, nullptr,
                                nullptr, y.get(), mean.get(), inv_std.get());
    for (int64_t i = 0; i < y.size(); ++i) REQUIRE(std::isnan(y[i]) == (i % 3 == 1));
  }
}

TEST_CASE("batch norm: one and several threads give the same bits", "[batch_norm]") {
  BatchNormParams eval;
  eval.training = false;
  for (const Backend* row : rows()) {
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
