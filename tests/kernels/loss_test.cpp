#include "cpu_rows.h"
#include "gradients.h"

namespace dnn::test {
namespace {

constexpr int32_t kIgnore = -100;
const std::vector<PointwiseLoss> kPointwise{PointwiseLoss::mse, PointwiseLoss::l1, PointwiseLoss::smooth_l1,
                                            PointwiseLoss::bce_with_logits};

TEST_CASE("nll_loss: values by hand", "[loss]") {
  const Buffer<float> x({-1.0f, -2.0f, -3.0f, -0.5f, std::nanf(""), -4.0f, -7.0f, -8.0f, -9.0f});
  const Buffer<int32_t> labels({2, kIgnore, 0});
  const Buffer<float> weights({0.5f, 1.0f, 2.0f});
  for (const Backend* row : rows_with(&Kernels<float>::nll_loss)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> loss(1), dx(9);
    row->f32.nll_loss(context, {3, 3}, {}, x.get(), labels.get(), nullptr, loss.get(), dx.get());
    CHECK(context.status->ok());
    check_values<float>(loss, {5});
    check_values<float>(dx, {0, 0, -0.5f, 0, 0, 0, -0.5f, 0, 0});
    row->f32.nll_loss(context, {3, 3}, {}, x.get(), labels.get(), weights.get(), loss.get(), dx.get());
    check_values<float>(loss, {3.8f});
    check_values<float>(dx, {0, 0, -0.8f, 0, 0, 0, -0.2f, 0, 0});
    row->f32.nll_loss(context, {3, 3}, {}, x.get(), labels.get(), weights.get(), loss.get(), nullptr);
    check_values<float>(loss, {3.8f});
    row->f32.nll_loss(context, {1, 3}, {}, x.get(), labels.get() + 1, nullptr, loss.get(), dx.get());
    CHECK(loss[0] == 0);
    check_values<float>(dx, {0, 0, 0, 0, 0, 0, -0.2f, 0, 0});
    row->f32.nll_loss(context, {0, 3}, {}, x.get(), labels.get(), nullptr, loss.get(), dx.get());
    CHECK(loss[0] == 0);
    CHECK(context.status->ok());
    row->f32.nll_loss(context, {3, 2}, {}, x.get(), labels.get(), nullptr, loss.get(), dx.get());
    CHECK(std::isnan(loss[0]));
    CHECK(context.status->op == LabelOp::nll_loss);
    CHECK(context.status->row == 0);
    CHECK(context.status->label == 2);
    CHECK(context.status->classes == 2);
    row->f32.nll_loss(context, {3, 3}, {.mean = false}, x.get(), labels.get(), weights.get(), loss.get(), dx.get());
    check_values<float>(loss, {9.5f});
    check_values<float>(dx, {0, 0, -2, 0, 0, 0, -0.5f, 0, 0});
    const Buffer<float> negative({-1.0f, 1.0f, -2.0f});  // as torch: -7 - 6 over -1 - 2
    row->f32.nll_loss(context, {3, 3}, {}, x.get(), labels.get(), negative.get(), loss.get(), dx.get());
    check_values<float>(loss, {13 / 3.0f});
    check_values<float>(dx, {0, 0, -2 / 3.0f, 0, 0, 0, -1 / 3.0f, 0, 0});
  }
}

TEST_CASE("nll_loss: every row against the reference", "[loss]") {
  std::vector<RowsShape> shapes{{1, 1000}, {64, 1000}, {70000, 3}};
  for (const int cols : odd_sizes()) shapes.push_back({9, cols});
  for (const RowsShape& shape : shapes) {
    const auto x = Buffer<float>::random(shape.count(), 1);
    const auto weights = absolute(Buffer<float>::random(shape.cols, 2));
    Buffer<int32_t> labels(shape.rows);
    for (int64_t i = 0; i < shape.rows; ++i) {
      labels[i] = i % 5 == 4 ? kIgnore : static_cast<int32_t>(i * 7 % shape.cols);
    }
    Context reference(reference_row());
    Buffer<double> loss64(1), dx64(shape.count());
    reference_row().f64.nll_loss(reference, shape, {}, convert<double>(x).get(), labels.get(),
                                 convert<double>(weights).get(), loss64.get(), dx64.get());
    for (const Backend* row : rows_with(&Kernels<float>::nll_loss)) {
      INFO(row->name << ", " << shape.rows << " x " << shape.cols);
      Context context(*row);
      Buffer<float> loss(1), dx(shape.count());
      row->f32.nll_loss(context, shape, {}, x.get(), labels.get(), weights.get(), loss.get(), dx.get());
      CHECK(context.status->ok());
      check_close(loss, loss64, 1.0, 1);
      check_close(dx, dx64, absolute(dx64), 1);
    }
  }
}

TEST_CASE("pointwise_loss: values by hand", "[loss]") {
  // As torch.nn.functional gives them, the mean of four.
  struct Case {
    PointwiseLoss kind;
    double beta, scale;
    std::vector<float> loss_and_dx;
  };
  const std::vector<Case> cases{
      {PointwiseLoss::mse, 0, 0.25, {3.3125f, 0.25f, -1.5f, 1, 0}},
      {PointwiseLoss::l1, 0, 0.25, {1.375f, 0.25f, -0.25f, 0.25f, 0}},
      {PointwiseLoss::smooth_l1, 1, 0.25, {1.03125f, 0.125f, -0.25f, 0.25f, 0}},
      {PointwiseLoss::smooth_l1, 2.5, 1, {2.6f, 0.2f, -1, 0.8f, 0}},
      {PointwiseLoss::smooth_l1, 0, 0.25, {1.375f, 0.25f, -0.25f, 0.25f, 0}},
      {PointwiseLoss::bce_with_logits, 0, 0.25, {0.978258f, 0.1556148f, -0.2201993f, -0.0118565f, 0.0780441f}}};
  const Buffer<float> x({0.5f, -2.0f, 3.0f, 0.25f}), target({0.0f, 1.0f, 1.0f, 0.25f});
  for (const Backend* row : rows_with(&Kernels<float>::pointwise_loss)) {
    for (const Case& c : cases) {
      INFO(row->name << ", loss " << static_cast<int>(c.kind));
      Context context(*row);
      Buffer<float> loss(1), dx(4);
      row->f32.pointwise_loss(context, {c.kind, c.beta, c.scale}, 4, x.get(), target.get(), loss.get(), dx.get());
      check_values<float>(loss, {c.loss_and_dx[0]});
      check_values<float>(dx, {c.loss_and_dx.begin() + 1, c.loss_and_dx.end()});
      row->f32.pointwise_loss(context, {c.kind, c.beta, c.scale}, 0, x.get(), target.get(), loss.get(), dx.get());
      CHECK(loss[0] == 0);
    }
  }
}

TEST_CASE("pointwise_loss: logits that are large, or right already", "[loss]") {
  const Buffer<float> x({1000.0f, -1000.0f, 20.0f, -20.0f, 1000.0f}), target({1.0f, 0.0f, 1.0f, 0.0f, 0.0f});
  for (const Backend* row : rows_with(&Kernels<float>::pointwise_loss)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> loss(1), dx(5);
    const auto loss_of = [&](int64_t first, int64_t count) {
      row->f32.pointwise_loss(context, {PointwiseLoss::bce_with_logits, 0, 1}, count, x.get() + first,
                              target.get() + first, loss.get(), dx.get());
      return loss[0];
    };
    CHECK(loss_of(0, 2) < 1e-30f);
    CHECK(loss_of(2, 2) == Approx(2 * 2.0611536e-9));
    CHECK(loss_of(4, 1) == 1000);
    CHECK(dx[0] == 1);
    const float bad = std::nanf("");
    row->f32.pointwise_loss(context, {PointwiseLoss::bce_with_logits, 0, 1}, 1, &bad, target.get(), loss.get(),
                            dx.get());
    CHECK(std::isnan(loss[0]));
    CHECK(std::isnan(dx[0]));
  }
}

TEST_CASE("pointwise_loss: every row against the reference", "[loss]") {
  for (const int64_t count : {int64_t{1}, int64_t{3}, int64_t{8}, int64_t{17}, int64_t{33}, int64_t{200003}}) {
    auto x = Buffer<float>::random(count, 1);
    for (int64_t i = 0; i < count; ++i) x[i] *= 6;
    const auto target = absolute(Buffer<float>::random(count, 2));
    const double scale = 1 / static_cast<double>(count);
    for (const PointwiseLoss kind : kPointwise) {
      Context reference(reference_row());
      Buffer<double> loss64(1), dx64(count);
      reference_row().f64.pointwise_loss(reference, {kind, 1.5, scale}, count, convert<double>(x).get(),
                                         convert<double>(target).get(), loss64.get(), dx64.get());
      for (const Backend* row : rows_with(&Kernels<float>::pointwise_loss)) {
        INFO(row->name << ", loss " << static_cast<int>(kind) << " of " << count);
        Context context(*row);
        Buffer<float> loss(1), loss_alone(1), dx(count);
        row->f32.pointwise_loss(context, {kind, 1.5, scale}, count, x.get(), target.get(), loss.get(), dx.get());
        check_close(loss, loss64, loss64, 1);
        check_close(dx, dx64, 2 * scale, 1);
        row->f32.pointwise_loss(context, {kind, 1.5, scale}, count, x.get(), target.get(), loss_alone.get(), nullptr);
        CHECK(loss_alone[0] == loss[0]);
      }
    }
  }
}

TEST_CASE("losses: one and several threads give the same bits", "[loss]") {
  const RowsShape shape{3000, 37};
  const auto x = Buffer<float>::random(shape.count(), 1), target = Buffer<float>::random(shape.count(), 2);
  Buffer<int32_t> labels(shape.rows);
  for (int64_t i = 0; i < shape.rows; ++i) labels[i] = static_cast<int32_t>(i % 37);
  for (const Backend* row : cpu_rows()) {
    check_same_bits(*row, shape.count() + 1, [&](Context& context, float* y) {
      row->f32.nll_loss(context, shape, {}, x.get(), labels.get(), nullptr, y, y + 1);
    });
    for (const PointwiseLoss kind : kPointwise) {
      check_same_bits(*row, shape.count() + 1, [&](Context& context, float* y) {
        row->f32.pointwise_loss(context, {kind, 1, 0.1}, shape.count(), x.get(), target.get(), y, y + 1);
      });
    }
  }
}

TEST_CASE("losses: gradients of the reference by central differences", "[loss]") {
  Context context(reference_row());
  const Kernels<double>& k = reference_row().f64;
  const auto x = Buffer<double>::random(20, 1), target = Buffer<double>::random(20, 2);
  const Buffer<double> one({1.0});
  Buffer<double> loss(1), dx(20);
  for (const PointwiseLoss kind : kPointwise) {
    k.pointwise_loss(context, {kind, 0.5, 0.1}, 20, x.get(), target.get(), loss.get(), dx.get());
    check_gradient(dx, central_differences(x, one, [&](const double* moved, double* result) {
                     k.pointwise_loss(context, {kind, 0.5, 0.1}, 20, moved, target.get(), result, nullptr);
                   }));
  }
  const Buffer<int32_t> labels({3, kIgnore, 0, 4});
  k.nll_loss(context, {4, 5}, {}, x.get(), labels.get(), nullptr, loss.get(), dx.get());
  check_gradient(dx, central_differences(x, one, [&](const double* moved, double* result) {
                   k.nll_loss(context, {4, 5}, {}, moved, labels.get(), nullptr, result, nullptr);
                 }));
}

}  // namespace
}  // namespace dnn::test
