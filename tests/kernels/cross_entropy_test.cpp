#include "gradients.h"

namespace dnn::test {
namespace {

const auto kCrossEntropy = &Kernels<float>::softmax_cross_entropy;
constexpr int32_t kIgnore = -100;

struct Result {
  Buffer<float> loss{1, 7}, dx;
  DeviceStatus status;
};

Result run(const Backend& row, const RowsShape& shape, const std::vector<float>& x,
           const std::vector<int32_t>& labels) {
  Result result{Buffer<float>(1), Buffer<float>(shape.count()), {}};
  Context context(row);
  row.f32.softmax_cross_entropy(context, shape, {kIgnore}, x.data(), labels.data(), nullptr, result.loss.get(),
                                result.dx.get());
  result.status = *context.status;
  return result;
}

TEST_CASE("softmax_cross_entropy: values by hand", "[cross_entropy]") {
  for (const Backend* row : rows_with(kCrossEntropy)) {
    INFO(row->name);
    check_values<float>(run(*row, {1, 3}, {1000, 0, -1000}, {1}).loss, {1000});
    check_values<float>(run(*row, {1, 3}, {-1000, -1000, -1001}, {2}).loss, {1.861995f});
    check_values<float>(run(*row, {1, 10}, std::vector<float>(10, 0), {4}).loss, {2.302585f});
    check_values<float>(run(*row, {1, 1}, {5}, {0}).loss, {0});

    const Result two = run(*row, {2, 3}, {0, std::log(2.0f), std::log(5.0f), 0, 0, 0}, {2, 1});
    check_values<float>(two.loss, {(0.4700036f + 1.0986123f) / 2});
    check_values<float>(two.dx, {0.0625f, 0.125f, -0.1875f, 1 / 6.0f, -1 / 3.0f, 1 / 6.0f});
    CHECK(two.status.ok());
  }
}

TEST_CASE("softmax_cross_entropy: ignored labels leave numerator, denominator and gradient", "[cross_entropy]") {
  for (const Backend* row : rows_with(kCrossEntropy)) {
    INFO(row->name);
    const Result one = run(*row, {3, 2}, {5, 1, 0, 0, std::nanf(""), 3}, {kIgnore, 0, kIgnore});
    check_values<float>(one.loss, {0.6931472f});
    check_values<float>(one.dx, {0, 0, -0.5f, 0.5f, 0, 0});
    CHECK(one.status.ok());
    const Result none = run(*row, {2, 2}, {5, 1, 0, 0}, {kIgnore, kIgnore});
    check_values<float>(none.loss, {0});
    check_values<float>(none.dx, {0, 0, 0, 0});
    CHECK(none.status.ok());
    const Result empty = run(*row, {0, 3}, {}, {});
    check_values<float>(empty.loss, {0});
    CHECK(empty.status.ok());
    // A value that could be a class is ignored all the same.
    Result class_1{Buffer<float>(1), Buffer<float>(4), {}};
    Context context(*row);
    const Buffer<float> x({0, 0, 9, 1});
    const Buffer<int32_t> labels({0, 1});
    row->f32.softmax_cross_entropy(context, {2, 2}, {1}, x.get(), labels.get(), nullptr, class_1.loss.get(),
                                   class_1.dx.get());
    check_values<float>(class_1.loss, {0.6931472f});
    check_values<float>(class_1.dx, {-0.5f, 0.5f, 0, 0});
  }
}

TEST_CASE("softmax_cross_entropy: a label out of range is named by its row", "[cross_entropy]") {
  for (const Backend* row : rows_with(kCrossEntropy)) {
    INFO(row->name);
    const std::vector<float> x(8, 0);
    const Result two = run(*row, {4, 2}, x, {0, 2, 1, 0});
    CHECK(two.status.op == LabelOp::cross_entropy);
    CHECK(two.status.row == 1);
    CHECK(two.status.label == 2);
    CHECK(two.status.classes == 2);
    CHECK(std::isnan(two.loss[0]));
    CHECK(run(*row, {4, 2}, x, {0, 1, -1, 7}).status.row == 2);
    CHECK(run(*row, {4, 2}, x, {std::numeric_limits<int32_t>::max(), 1, 1, 7}).status.row == 0);
    CHECK(run(*row, {4, 2}, x, {0, 1, kIgnore, std::numeric_limits<int32_t>::min()}).status.row == 3);
    std::vector<int32_t> many(5000, 1);
    many[4711] = many[4999] = 3;
    CHECK(run(*row, {5000, 3}, std::vector<float>(15000, 0), many).status.row == 4711);
  }
}

TEST_CASE("softmax_cross_entropy: every row against the reference", "[cross_entropy]") {
  std::vector<RowsShape> shapes{{1, 1000}, {64, 10}, {70000, 3}, {3, 4099}};
  for (const int cols : odd_sizes()) shapes.push_back({9, cols});
  for (const RowsShape& shape : shapes) {
    auto x = Buffer<float>::random(shape.count(), 1);
    for (int64_t i = 0; i < x.size(); ++i) x[i] *= 10;
    Buffer<int32_t> labels(shape.rows);
    for (int64_t i = 0; i < shape.rows; ++i)
      labels[i] = i % 5 == 4 ? kIgnore : static_cast<int32_t>(i * 7 % shape.cols);
    Context reference(reference_row());
    Buffer<double> loss64(1), dx64(shape.count());
    reference_row().f64.softmax_cross_entropy(reference, shape, {kIgnore}, convert<double>(x).get(), labels.get(),
                                              nullptr, loss64.get(), dx64.get());
    REQUIRE(reference.status->ok());
    for (const Backend* row : rows_with(kCrossEntropy)) {
      INFO(row->name << ", " << shape.rows << " x " << shape.cols);
      Context context(*row);
      Buffer<float> loss(1), loss_alone(1), dx(shape.count());
      row->f32.softmax_cross_entropy(context, shape, {kIgnore}, x.get(), labels.get(), nullptr, loss.get(), dx.get());
      CHECK(context.status->ok());
      check_close(loss, loss64, 30.0, 1);
      CHECK(loss[0] >= 0);
      const double counted = static_cast<double>(shape.rows - shape.rows / 5);
      check_close(dx, dx64, 2 / counted, 1);
      // Each row of the gradient sums to 0.
      for (int64_t i = 0; i < shape.rows; ++i) {
        double sum = 0;
        for (int j = 0; j < shape.cols; ++j) sum += dx[i * shape.cols + j];
        REQUIRE(std::abs(sum) <= 1e-5 / counted);
      }
      row->f32.softmax_cross_entropy(context, shape, {kIgnore}, x.get(), labels.get(), nullptr, loss_alone.get(),
                                     nullptr);
      loss_alone.check_guards();
      CHECK(loss_alone[0] == loss[0]);
    }
  }
}

TEST_CASE("softmax_cross_entropy: label smoothing and class weights", "[cross_entropy]") {
  // As torch.nn.functional.cross_entropy gives them for these logits.
  const Buffer<float> x({1.0f, 2.0f, 3.0f, 0.5f, -1.0f, 0.0f}), weights({0.2f, 1.0f, 3.0f});
  const Buffer<int32_t> labels({2, 0});
  for (const Backend* row : rows_with(kCrossEntropy)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> loss(1), dx(6);
    row->f32.softmax_cross_entropy(context, {2, 3}, {.label_smoothing = 0.1}, x.get(), labels.get(), nullptr,
                                   loss.get(), dx.get());
    check_values<float>(loss, {0.58920162f});
    check_values<float>(dx, {0.02834862f, 0.10569757f, -0.13404619f, -0.19339197f, 0.044309159f, 0.14908281f});
    row->f32.softmax_cross_entropy(context, {2, 3}, {}, x.get(), labels.get(), weights.get(), loss.get(), dx.get());
    check_values<float>(loss, {0.41988875f});
    check_values<float>(dx, {0.084403662f, 0.22943294f, -0.3138366f, -0.028340663f, 0.0076219783f, 0.020718685f});
    row->f32.softmax_cross_entropy(context, {2, 3}, {.label_smoothing = 0.1}, x.get(), labels.get(), weights.get(),
                                   loss.get(), dx.get());
    check_values<float>(loss, {0.46799669f});
    check_values<float>(dx, {0.0778188f, 0.20677985f, -0.28459865f, -0.0036783946f, 0.0017784986f, 0.001899896f});
    row->f32.softmax_cross_entropy(context, {2, 3}, {.mean = false}, x.get(), labels.get(), weights.get(), loss.get(),
                                   dx.get());
    check_values<float>(loss, {1.343644f});
    check_values<float>(dx, {0.27009172f, 0.73418541f, -1.00427713f, -0.090690122f, 0.024390331f, 0.066299792f});
  }
}

TEST_CASE("softmax_cross_entropy: smoothing and weights, every row against the reference", "[cross_entropy]") {
  std::vector<RowsShape> shapes{{64, 1000}, {2, 4099}};
  for (const int cols : odd_sizes()) shapes.push_back({9, cols});
  for (const RowsShape& shape : shapes) {
    const Buffer<float> x = Buffer<float>::random(shape.count(), 1);
    const Buffer<float> weights = Buffer<float>(absolute(Buffer<float>::random(shape.cols, 2)));
    Buffer<int32_t> labels(shape.rows);
    for (int64_t i = 0; i < shape.rows; ++i) labels[i] = i % 4 == 3 ? kIgnore : static_cast<int32_t>(i % shape.cols);
    Context reference(reference_row());
    Buffer<double> loss64(1), dx64(shape.count());
    const CrossEntropyParams params{.label_smoothing = 0.2};
    reference_row().f64.softmax_cross_entropy(reference, shape, params, convert<double>(x).get(), labels.get(),
                                              convert<double>(weights).get(), loss64.get(), dx64.get());
    for (const Backend* row : rows_with(kCrossEntropy)) {
      INFO(row->name << ", " << shape.rows << "x" << shape.cols);
      Context context(*row);
      Buffer<float> loss(1), dx(shape.count());
      row->f32.softmax_cross_entropy(context, shape, params, x.get(), labels.get(), weights.get(), loss.get(),
                                     dx.get());
      CHECK(context.status->ok());
      check_close(loss, loss64, 10.0, 1);
      check_close(dx, dx64, 1.0, 1);
    }
  }
}

TEST_CASE("softmax_cross_entropy: gradient of the reference by central differences", "[cross_entropy]") {
  Context context(reference_row());
  const RowsShape shape{4, 5};
  const auto x = Buffer<double>::random(20, 1);
  const Buffer<int32_t> labels({3, kIgnore, 0, 4});
  const Buffer<double> one({1.0});
  Buffer<double> loss(1), dx(20);
  reference_row().f64.softmax_cross_entropy(context, shape, {kIgnore}, x.get(), labels.get(), nullptr, loss.get(),
                                            dx.get());
  check_gradient(dx, central_differences(x, one, [&](const double* moved, double* result) {
                   reference_row().f64.softmax_cross_entropy(context, shape, {kIgnore}, moved, labels.get(), nullptr,
                                                             result, nullptr);
                 }));
}

}  // namespace
}  // namespace dnn::test
