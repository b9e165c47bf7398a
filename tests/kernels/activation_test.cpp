#include "rows.h"

namespace dnn::test {
namespace {

// With a as the parameter of those that have one.
std::vector<Activation> all(double a) {
  return {Activation::none,   Activation::relu,        Activation::sigmoid,   Activation::tanh,
          Activation::relu6,  Activation::hardsigmoid, Activation::hardswish, Activation::silu,
          Activation::gelu,   Activation::gelu_tanh,   Activation::mish,      Activation::leaky_relu(a),
          Activation::elu(a), Activation::softplus(a), Activation::swish(a),  Activation::hardtanh(-std::abs(a), 2)};
}

TEST_CASE("activation: values by hand", "[activation]") {
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    INFO(row->name);
    Context context(*row);
    const Buffer<float> x({-1.0f, 0.0f, 2.0f});
    Buffer<float> y(3), dx(3);
    const Buffer<float> dy({1.0f, 1.0f, 3.0f});
    row->f32.unary_forward(context, Activation::relu, 3, x.get(), y.get());
    check_values<float>(y, {0, 0, 2});
    row->f32.unary_backward(context, Activation::relu, 3, y.get(), dy.get(), dx.get());
    check_values<float>(dx, {0, 0, 3});
    row->f32.unary_forward(context, Activation::sigmoid, 3, x.get(), y.get());
    check_values<float>(y, {0.26894143f, 0.5f, 0.88079708f});
    row->f32.unary_backward(context, Activation::sigmoid, 3, y.get(), dy.get(), dx.get());
    check_values<float>(dx, {0.19661193f, 0.25f, 0.31498076f});
    row->f32.unary_forward(context, Activation::tanh, 3, x.get(), y.get());
    check_values<float>(y, {-0.76159416f, 0.0f, 0.96402758f});
    row->f32.unary_backward(context, Activation::tanh, 3, y.get(), dy.get(), dx.get());
    check_values<float>(dx, {0.41997434f, 1.0f, 0.21195247f});
  }
}

TEST_CASE("activation: the other functions by hand", "[activation]") {
  struct Case {
    Activation activation;
    std::vector<float> y, dx;  // at x = -4, -1, 0.5, 7; upstream ones
  };
  const std::vector<Case> cases{
      {Activation::relu6, {0, 0, 0.5f, 6}, {0, 0, 1, 0}},
      {Activation::hardsigmoid, {0, 0.33333333f, 0.58333333f, 1}, {0, 0.16666667f, 0.16666667f, 0}},
      {Activation::hardswish, {0, -0.33333333f, 0.29166667f, 7}, {0, 0.16666667f, 0.66666667f, 1}},
      {Activation::silu,
       {-0.07194484f, -0.26894142f, 0.31122967f, 6.99362264f},
       {-0.05266461f, 0.07232949f, 0.73996119f, 1.00546050f}},
      {Activation::gelu, {-0.00012668f, -0.15865525f, 0.34573123f, 7}, {-0.00050365f, -0.08331547f, 0.86749512f, 1}},
      {Activation::leaky_relu(0.1), {-0.4f, -0.1f, 0.5f, 7}, {0.1f, 0.1f, 1, 1}},
      {Activation::elu(2), {-1.96336872f, -1.26424112f, 0.5f, 7}, {0.03663128f, 0.73575888f, 1, 1}},
      {Activation::softplus(2),
       {0.00016770f, 0.06346401f, 0.65663084f, 7.00000042f},
       {0.00033535f, 0.11920292f, 0.73105858f, 0.99999917f}},
      {Activation::leaky_relu(-0.5), {2, 0.5f, 0.5f, 7}, {-0.5f, -0.5f, 1, 1}},
      {Activation::elu(-2), {1.96336872f, 1.26424112f, 0.5f, 7}, {-0.03663128f, -0.73575888f, 1, 1}},
      // softplus with -beta is x - softplus with beta
      {Activation::softplus(-2),
       {-4.00016770f, -1.06346401f, -0.15663084f, -4.15763e-7f},
       {0.99966465f, 0.88079708f, 0.26894142f, 8.31528e-7f}},
  };
  const Buffer<float> x({-4.0f, -1.0f, 0.5f, 7.0f}), dy({1.0f, 1.0f, 1.0f, 1.0f});
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    for (const Case& c : cases) {
      INFO(row->name << ", activation " << static_cast<int>(c.activation.op));
      Context context(*row);
      Buffer<float> y(4), dx(4);
      row->f32.unary_forward(context, c.activation, 4, x.get(), y.get());
      check_values<float>(y, c.y);
      const float* saved = slope_from_output(c.activation) ? y.get() : x.get();
      row->f32.unary_backward(context, c.activation, 4, saved, dy.get(), dx.get());
      check_values<float>(dx, c.dx);
    }
  }
}

TEST_CASE("activation: every row against the reference", "[activation]") {
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    for (const int count : {0, 1, 3, 7, 8, 9, 15, 16, 17, 33, 100003}) {
      Context context(*row), reference(reference_row());
      Buffer<double> x64 = Buffer<double>::random(count, 1), y64(count), dx64(count);
      for (int64_t i = 0; i < count; ++i) x64[i] = static_cast<float>(x64[i] * 20);
      const Buffer<float> x = convert<float>(x64), dy = Buffer<float>::random(count, 2);
      Buffer<float> y(count), dx(count);
      for (const double a : {0.75, -0.75}) {
        for (const Activation& activation : all(a)) {
          INFO(row->name << ", " << count << " values, activation " << static_cast<int>(activation.op) << ", a " << a);
          row->f32.unary_forward(context, activation, count, x.get(), y.get());
          reference_row().f64.unary_forward(reference, activation, count, x64.get(), y64.get());
          check_close(y, y64, 20.0, 1);
          const float* saved = slope_from_output(activation) ? y.get() : x.get();
          Buffer<double> saved64(count);
          std::copy(saved, saved + count, saved64.get());
          row->f32.unary_backward(context, activation, count, saved, dy.get(), dx.get());
          reference_row().f64.unary_backward(reference, activation, count, saved64.get(), convert<double>(dy).get(),
                                             dx64.get());
          check_close(dx, dx64, slope_from_output(activation) ? 1.0 : 20.0, 1);
        }
      }
    }
  }
}

TEST_CASE("activation: infinities, NaN and what overflows", "[activation]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<float> values{-inf, -3e38f, -1000.0f, -90.0f, -0.0f, 0.0f, 90.0f, 1000.0f, 3e38f, inf, nan};
  const int count = static_cast<int>(values.size());
  const Buffer<float> x(values), dy(std::vector<float>(values.size(), 1.0f));
  std::vector<Activation> kinds = all(0.75);
  for (const Activation& activation : all(-0.75)) {
    if (has_parameters(activation.op)) kinds.push_back(activation);
  }
  const auto same = [](float a, float b) {
    return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= 1e-6f * std::abs(b) + 1e-30f;
  };
  for (const Backend* row : rows_with(&Kernels<float>::unary_forward)) {
    for (const Activation& activation : kinds) {
      const UnaryOp op = activation.op;
      INFO(row->name << ", activation " << static_cast<int>(op) << ", a " << activation.a);
      Context context(*row), reference(reference_row());
      Buffer<float> y(count), expected(count), dx(count), expected_dx(count);
      row->f32.unary_forward(context, activation, count, x.get(), y.get());
      reference_row().f32.unary_forward(reference, activation, count, x.get(), expected.get());
      const float* saved = slope_from_output(activation) ? expected.get() : x.get();
      row->f32.unary_backward(context, activation, count, saved, dy.get(), dx.get());
      reference_row().f32.unary_backward(reference, activation, count, saved, dy.get(), expected_dx.get());
      const bool times_sigmoid = op == UnaryOp::silu || op == UnaryOp::swish || op == UnaryOp::mish;
      for (int i = 0; i < count; ++i) {
        INFO("at " << values[i] << ": " << y[i] << " for " << expected[i] << ", slope " << dx[i] << " for "
                   << expected_dx[i]);
        CHECK(same(y[i], expected[i]));
        if (!times_sigmoid || std::isfinite(values[i])) CHECK(same(dx[i], expected_dx[i]));
      }
      if (op == UnaryOp::relu) CHECK((std::isnan(y[count - 1]) && dx[count - 1] == 1));
      if (op == UnaryOp::softplus) CHECK((activation.a > 0 ? y[count - 3] == 3e38f : y[1] == -3e38f));
      if (op == UnaryOp::sigmoid) CHECK((y[0] == 0 && y[count - 2] == 1));
      if (op == UnaryOp::tanh) CHECK((y[0] == -1 && y[count - 2] == 1));
    }
  }
}

}  // namespace
}  // namespace dnn::test
