#include "rows.h"

namespace dnn::test {
namespace {

TEST_CASE("prelu: values by hand", "[prelu]") {
  const Buffer<float> x({1, -2, -3, 4, 0, -1}), dy({1, 2, 3, 4, 5, 6});
  for (const Backend* row : rows_with(&Kernels<float>::prelu_forward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(6), dx(6), dslope(2), one(1);
    const Buffer<float> slope({0.5f, -0.25f});
    row->f32.prelu_forward(context, {3, 2}, x.get(), slope.get(), y.get());
    check_values<float>(y, {1, 0.5f, -1.5f, 4, 0, 0.25f});
    row->f32.prelu_backward(context, {3, 2}, x.get(), slope.get(), dy.get(), dx.get(), dslope.get());
    check_values<float>(dx, {1, -0.5f, 1.5f, 4, 2.5f, -1.5f});
    check_values<float>(dslope, {-9, -10});
    row->f32.prelu_forward(context, {6, 1}, x.get(), slope.get(), y.get());
    check_values<float>(y, {1, -1, -1.5f, 4, 0, -0.5f});
    row->f32.prelu_backward(context, {6, 1}, x.get(), slope.get(), dy.get(), nullptr, one.get());
    check_values<float>(one, {-19});
    row->f32.prelu_backward(context, {6, 1}, x.get(), slope.get(), dy.get(), dx.get(), nullptr);
    check_values<float>(dx, {1, 1, 1.5f, 4, 2.5f, 3});
  }
}

TEST_CASE("prelu: every row against the reference", "[prelu]") {
  std::vector<RowsShape> shapes{{0, 3}, {100003, 1}, {20011, 16}, {9, 5000}, {3000, 130}};
  for (const int cols : odd_sizes()) shapes.push_back({67, cols}), shapes.push_back({5, cols});
  for (const Backend* row : rows_with(&Kernels<float>::prelu_forward)) {
    for (const RowsShape& shape : shapes) {
      INFO(row->name << ", " << shape.rows << " rows of " << shape.cols);
      Context context(*row), reference(reference_row());
      const auto x = Buffer<float>::random(shape.count(), 1), slope = Buffer<float>::random(shape.cols, 2);
      const auto dy = Buffer<float>::random(shape.count(), 3);
      const auto x64 = convert<double>(x), slope64 = convert<double>(slope), dy64 = convert<double>(dy);
      Buffer<float> y(shape.count()), dx(shape.count()), dslope(shape.cols);
      Buffer<double> y64(shape.count()), dx64(shape.count()), dslope64(shape.cols);
      reference_row().f64.prelu_forward(reference, shape, x64.get(), slope64.get(), y64.get());
      reference_row().f64.prelu_backward(reference, shape, x64.get(), slope64.get(), dy64.get(), dx64.get(),
                                         dslope64.get());
      row->f32.prelu_forward(context, shape, x.get(), slope.get(), y.get());
      check_close(y, y64, absolute(y64), 1);
      row->f32.prelu_backward(context, shape, x.get(), slope.get(), dy.get(), dx.get(), dslope.get());
      check_close(dx, dx64, absolute(dx64), 1);
      check_close(dslope, dslope64, 1, static_cast<double>(shape.rows));
      Buffer<float> alone(shape.count()), sums(shape.cols);
      row->f32.prelu_backward(context, shape, x.get(), slope.get(), dy.get(), alone.get(), nullptr);
      row->f32.prelu_backward(context, shape, x.get(), slope.get(), dy.get(), nullptr, sums.get());
      CHECK(alone.values() == dx.values());
      CHECK(sums.values() == dslope.values());
      for (const int threads : {1, 2, 3}) {
        context.threads = threads;
        row->f32.prelu_backward(context, shape, x.get(), slope.get(), dy.get(), alone.get(), sums.get());
        CHECK(sums.values() == dslope.values());
      }
    }
  }
}

TEST_CASE("prelu: a NaN is kept", "[prelu]") {
  const Buffer<float> x({std::nanf(""), -1}), slope({0.5f});
  for (const Backend* row : rows_with(&Kernels<float>::prelu_forward)) {
    Context context(*row);
    Buffer<float> y(2);
    row->f32.prelu_forward(context, {2, 1}, x.get(), slope.get(), y.get());
    CHECK(std::isnan(y[0]));
    CHECK(y[1] == -0.5f);
  }
}

}  // namespace
}  // namespace dnn::test
