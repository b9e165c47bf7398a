#include "rows.h"

namespace dnn::test {
namespace {

const std::vector<Activation> kAll{Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh};

TEST_CASE("activation: values by hand", "[activation]") {
  for (const Backend* row : rows()) {
    INFO(row->name);
    Context context(*row);
    const Buffer<float> x({-1.0f, 0.0f, 2.0f});
    Buffer<float> y(3), dx(3);
    const Buffer<float> dy({1.0f, 1.0f, 3.0f});
    row->f32.activation_forward(context, Activation::relu, 3, x.get(), y.get());
    check_values<float>(y, {0, 0, 2});
    row->f32.activation_backward(context, Activation::relu, 3, y.get(), dy.get(), dx.get());
    check_values<float>(dx, {0, 0, 3});
    row->f32.activation_forward(context, Activation::sigmoid, 3, x.get(), y.get());
    check_values<float>(y, {0.26894143f, 0.5f, 0.88079708f});
    row->f32.activation_backward(context, Activation::sigmoid, 3, y.get(), dy.get(), dx.get());
    check_values<float>(dx, {0.19661193f, 0.25f, 0.31498076f});
    row->f32.activation_forward(context, Activation::tanh, 3, x.get(), y.get());
    check_values<float>(y, {-0.76159416f, 0.0f, 0.96402758f});
    row->f32.activation_backward(context, Activation::tanh, 3, y.get(), dy.get(), dx.get());
    check_values<float>(dx, {0.41997434f, 1.0f, 0.21195247f});
  }
}

TEST_CASE("activation: every row against the reference", "[activation]") {
  for (const Backend* row : rows()) {
    for (const int count : {0, 1, 3, 7, 8, 9, 15, 16, 17, 33, 100003}) {
      for (const Activation activation : kAll) {
        INFO(row->name << ", " << count << " values, activation " << static_cast<int>(activation));
        Context context(*row), reference(reference_row());
        Buffer<double> x64 = Buffer<double>::random(count, 1), y64(count), dx64(count);
        for (int64_t i = 0; i < count; ++i) x64[i] = static_cast<float>(x64[i] * 20);
        const Buffer<float> x = convert<float>(x64), dy = Buffer<float>::random(count, 2);
        Buffer<float> y(count), dx(count);
        row->f32.activation_forward(context, activation, count, x.get(), y.get());
        reference_row().f64.activation_forward(reference, activation, count, x64.get(), y64.get());
        check_close(y, y64, activation == Activation::relu || activation == Activation::none ? 20.0 : 1.0, 1);
        row->f32.activation_backward(context, activation, count, y.get(), dy.get(), dx.get());
        reference_row().f64.activation_backward(reference, activation, count, convert<double>(y).get(),
                                                convert<double>(dy).get(), dx64.get());
        check_close(dx, dx64, 1.0, 1);
      }
    }
  }
}

TEST_CASE("activation: infinities and NaN", "[activation]") {
  const float inf = std::numeric_limits<float>::infinity();
  for (const Backend* row : rows()) {
    INFO(row->name);
    Context context(*row);
    const Buffer<float> x({-inf, inf, -1000.0f, 1000.0f, std::nanf("")});
    Buffer<float> y(5);
    row->f32.activation_forward(context, Activation::sigmoid, 5, x.get(), y.get());
    CHECK(std::abs(y.values()[0]) < 1e-37f);
    CHECK(y.values()[1] == 1.0f);
    CHECK(std::abs(y.values()[2]) < 1e-37f);
    CHECK(y.values()[3] == 1.0f);
    CHECK(std::isnan(y.values()[4]));
    row->f32.activation_forward(context, Activation::tanh, 5, x.get(), y.get());
    CHECK(y.values()[0] == -1.0f);
    CHECK(y.values()[1] == 1.0f);
    CHECK(std::isnan(y.values()[4]));
    row->f32.activation_forward(context, Activation::relu, 5, x.get(), y.get());
    CHECK(y.values()[1] == inf);
    CHECK(std::isnan(y.values()[4]));
  }
}

}  // namespace
}  // namespace dnn::test
