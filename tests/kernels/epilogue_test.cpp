#include "gradients.h"

namespace dnn::test {
namespace {

const auto kForward = &Kernels<float>::epilogue;
const auto kBackward = &Kernels<float>::epilogue_backward;
const std::vector<Activation> kAll{Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh};

std::vector<RowsShape> shapes() {
  std::vector<RowsShape> found{{0, 5}, {1, 1}, {1, 1000}, {7, 10}, {20000, 1}, {5000, 24}, {600, 256}, {3, 4099}};
  for (const int cols : odd_sizes()) found.push_back({5, cols});
  return found;
}

TEST_CASE("epilogue: values by hand", "[epilogue]") {
  const Buffer<float> x({1, -2, 3, -4}), bias({0.5f, -1}), residual({1, 10, -5, 1});
  for (const Backend* row : rows_with(kForward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(4);
    row->f32.epilogue(context, {2, 2}, {bias.get(), residual.get(), Activation::relu}, x.get(), y.get());
    check_values<float>(y, {2.5f, 7, 0, 0});
    y = x;
    row->f32.epilogue(context, {2, 2}, {bias.get(), nullptr, Activation::none}, y.get(), y.get());
    check_values<float>(y, {1.5f, -3, 3.5f, -5});
  }
  const Buffer<float> y({2.5f, 7, 0, 0}), dy({1, 2, 3, 4});
  for (const Backend* row : rows_with(kBackward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dz(4), dbias(2);
    row->f32.epilogue_backward(context, {2, 2}, Activation::relu, y.get(), dy.get(), dz.get(), dbias.get());
    check_values<float>(dz, {1, 2, 0, 0});
    check_values<float>(dbias, {1, 2});
    row->f32.epilogue_backward(context, {2, 2}, Activation::none, nullptr, dy.get(), nullptr, dbias.get());
    check_values<float>(dbias, {4, 6});
  }
}

TEST_CASE("epilogue: every row against the reference", "[epilogue]") {
  for (const RowsShape& shape : shapes()) {
    for (const Activation activation : kAll) {
      for (const bool with_bias : {false, true}) {
        for (const bool with_residual : {false, true}) {
          const auto x = Buffer<float>::random(shape.count(), 1), bias = Buffer<float>::random(shape.cols, 2);
          const auto residual = Buffer<float>::random(shape.count(), 3);
          const Buffer<double> bias64 = convert<double>(bias), residual64 = convert<double>(residual);
          Buffer<double> y64(shape.count());
          Context reference(reference_row());
          reference_row().f64.epilogue(
              reference, shape,
              {with_bias ? bias64.get() : nullptr, with_residual ? residual64.get() : nullptr, activation},
              convert<double>(x).get(), y64.get());
          for (const Backend* row : rows_with(kForward)) {
            INFO(row->name << ", " << shape.rows << " x " << shape.cols << ", bias " << with_bias << ", residual "
                           << with_residual << ", activation " << static_cast<int>(activation.op));
            Context context(*row);
            const Epilogue<float> epilogue{with_bias ? bias.get() : nullptr, with_residual ? residual.get() : nullptr,
                                           activation};
            Buffer<float> y(shape.count()), in_place = x;
            row->f32.epilogue(context, shape, epilogue, x.get(), y.get());
            check_close(y, y64, 3.0, 1);
            row->f32.epilogue(context, shape, epilogue, in_place.get(), in_place.get());
            in_place.check_guards();
            REQUIRE((in_place.values() == y.values()));
          }
        }
      }
    }
  }
}

TEST_CASE("epilogue_backward: every row against the reference", "[epilogue]") {
  for (const RowsShape& shape : shapes()) {
    for (const Activation activation : kAll) {
      const auto y = Buffer<float>::random(shape.count(), 1), dy = Buffer<float>::random(shape.count(), 2);
      const Buffer<double> y64 = convert<double>(y), dy64 = convert<double>(dy);
      Buffer<double> dz64(shape.count()), dbias64(shape.cols), scale(shape.cols);
      Context reference(reference_row());
      const Kernels<double>& kernels = reference_row().f64;
      kernels.epilogue_backward(reference, shape, activation, y64.get(), dy64.get(), dz64.get(), dbias64.get());
      kernels.epilogue_backward(reference, shape, Activation::none, nullptr, absolute(dy64).get(), nullptr,
                                scale.get());
      for (const Backend* row : rows_with(kBackward)) {
        INFO(row->name << ", " << shape.rows << " x " << shape.cols << ", activation " << static_cast<int>(activation.op));
        Context context(*row);
        Buffer<float> dz(shape.count()), dbias(shape.cols), in_place = dy, alone(shape.cols);
        row->f32.epilogue_backward(context, shape, activation, y.get(), dy.get(), dz.get(), dbias.get());
        check_close(dz, dz64, 1.0, 1);
        check_close(dbias, dbias64, scale, static_cast<double>(shape.rows));
        row->f32.epilogue_backward(context, shape, activation, y.get(), in_place.get(), in_place.get(), nullptr);
        in_place.check_guards();
        REQUIRE((in_place.values() == dz.values()));
        if (activation != Activation::none) continue;
        row->f32.epilogue_backward(context, shape, activation, nullptr, dy.get(), nullptr, alone.get());
        alone.check_guards();
        REQUIRE((alone.values() == dbias.values()));
      }
    }
  }
}

TEST_CASE("epilogue_backward: a bias gradient over very many rows", "[epilogue]") {
  // A plain float sum would stop growing at 2^24.
  const int64_t many = (int64_t{1} << 24) + 4096;
  const Buffer<float> dy(many, 1);
  for (const Backend* row : rows_with(kBackward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> dbias(1);
    row->f32.epilogue_backward(context, {many, 1}, Activation::none, nullptr, dy.get(), nullptr, dbias.get());
    check_values<float>(dbias, {static_cast<float>(many)});
  }
}

TEST_CASE("epilogue_backward: one and several threads give the same bits", "[epilogue]") {
  const RowsShape shape{20011, 33};
  const auto dy = Buffer<float>::random(shape.count(), 2);
  for (const Backend* row : rows_with(kBackward)) {
    std::vector<float> of_one_thread;
    for (const int threads : {1, 2, 3, 7}) {
      INFO(row->name << ", " << threads << " threads");
      Context context(*row);
      context.threads = threads;
      Buffer<float> dbias(shape.cols);
      row->f32.epilogue_backward(context, shape, Activation::none, nullptr, dy.get(), nullptr, dbias.get());
      if (threads == 1) of_one_thread = dbias.values();
      REQUIRE((dbias.values() == of_one_thread));
    }
  }
}

TEST_CASE("epilogue: gradients of the reference by central differences", "[epilogue]") {
  Context context(reference_row());
  const Kernels<double>& kernels = reference_row().f64;
  const RowsShape shape{4, 5};
  const auto x = Buffer<double>::random(20, 1), bias = Buffer<double>::random(5, 2);
  const auto residual = Buffer<double>::random(20, 3), dy = Buffer<double>::random(20, 4);
  for (const Activation activation : kAll) {
    Buffer<double> y(20), dz(20), dbias(5);
    kernels.epilogue(context, shape, {bias.get(), residual.get(), activation}, x.get(), y.get());
    kernels.epilogue_backward(context, shape, activation, y.get(), dy.get(), dz.get(), dbias.get());
    check_gradient(dz, central_differences(x, dy, [&](const double* moved, double* result) {
                     kernels.epilogue(context, shape, {bias.get(), residual.get(), activation}, moved, result);
                   }));
    check_gradient(dbias, central_differences(bias, dy, [&](const double* moved, double* result) {
                     kernels.epilogue(context, shape, {moved, residual.get(), activation}, x.get(), result);
                   }));
  }
}

}  // namespace
}  // namespace dnn::test
