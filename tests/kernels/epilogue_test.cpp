#include "fused.h"
#include "gradients.h"

namespace dnn::test {
namespace {

const auto kForward = &Kernels<float>::epilogue;
const auto kBackward = &Kernels<float>::epilogue_backward;

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
    const Buffer<float> scale({2, -1});
    row->f32.epilogue(context, {2, 2}, {bias.get(), residual.get(), Activation::leaky_relu(0.1), scale.get()}, x.get(),
                      y.get());
    check_values<float>(y, {3.5f, 11, 1.5f, 4});
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

void compare(const RowsShape& shape, const Parts& parts, const Activation& activation) {
  const auto x = Buffer<float>::random(shape.count(), 1), bias = Buffer<float>::random(shape.cols, 2);
  const auto residual = Buffer<float>::random(shape.count(), 3), scale = Buffer<float>::random(shape.cols, 4);
  const auto x64 = convert<double>(x), bias64 = convert<double>(bias), residual64 = convert<double>(residual);
  const auto scale64 = convert<double>(scale);
  Buffer<double> y64(shape.count()), sums(shape.count());
  Context reference(reference_row());
  reference_row().f64.epilogue(reference, shape, epilogue_of(parts, bias64, residual64, scale64, activation), x64.get(),
                               y64.get());
  const auto bias_size = absolute(bias64), residual_size = absolute(residual64), scale_size = absolute(scale64);
  reference_row().f64.epilogue(reference, shape,
                               epilogue_of(parts, bias_size, residual_size, scale_size, Activation::none),
                               absolute(x64).get(), sums.get());
  const Buffer<double> bounds = magnitudes(activation, sums, y64);
  const Epilogue<float> epilogue = epilogue_of(parts, bias, residual, scale, activation);
  for (const Backend* row : rows_with(kForward)) {
    INFO(row->name << ", " << shape.rows << " x " << shape.cols << text(parts) << ", " << text(activation));
    Context context(*row);
    Buffer<float> y(shape.count()), in_place = x;
    row->f32.epilogue(context, shape, epilogue, x.get(), y.get());
    check_close(y, y64, bounds, 1);
    row->f32.epilogue(context, shape, epilogue, in_place.get(), in_place.get());
    in_place.check_guards();
    REQUIRE((in_place.values() == y.values()));
  }
}

TEST_CASE("epilogue: every row against the reference", "[epilogue]") {
  for (const RowsShape& shape : shapes()) {
    for (const Parts& parts : every_parts()) {
      compare(shape, parts, Activation::none);
      compare(shape, parts, Activation::relu);
      compare(shape, parts, Activation::elu(1.5));
    }
    for (const Activation& activation : every_activation()) compare(shape, {true, true, true}, activation);
  }
}

TEST_CASE("epilogue_backward: every row against the reference", "[epilogue]") {
  for (const RowsShape& shape : shapes()) {
    for (const Activation& activation : activations_with_slope_from_output()) {
      // Results of the activation, as it must have them.
      const auto z = Buffer<double>::random(shape.count(), 1);
      Buffer<double> results(shape.count());
      Context reference(reference_row());
      const Kernels<double>& kernels = reference_row().f64;
      kernels.unary_forward(reference, activation, shape.count(), z.get(), results.get());
      const auto y = convert<float>(results), dy = Buffer<float>::random(shape.count(), 2);
      const Buffer<double> y64 = convert<double>(y), dy64 = convert<double>(dy);
      Buffer<double> dz64(shape.count()), dbias64(shape.cols), sums(shape.cols);
      kernels.epilogue_backward(reference, shape, activation, y64.get(), dy64.get(), dz64.get(), dbias64.get());
      Buffer<double> dz_bounds = absolute(dy64);
      for (int64_t i = 0; i < dz_bounds.size(); ++i) dz_bounds[i] *= steepest(activation);
      kernels.epilogue_backward(reference, shape, Activation::none, nullptr, dz_bounds.get(), nullptr, sums.get());
      for (const Backend* row : rows_with(kBackward)) {
        INFO(row->name << ", " << shape.rows << " x " << shape.cols << ", " << text(activation));
        Context context(*row);
        Buffer<float> dz(shape.count()), dbias(shape.cols), in_place = dy, alone(shape.cols);
        row->f32.epilogue_backward(context, shape, activation, y.get(), dy.get(), dz.get(), dbias.get());
        check_close(dz, dz64, dz_bounds, 1);
        check_close(dbias, dbias64, sums, static_cast<double>(shape.rows));
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
  for (const Activation& activation : activations_with_slope_from_output()) {
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
