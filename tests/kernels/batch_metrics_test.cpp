#include "rows.h"

namespace dnn::test {
namespace {

const auto kMetrics = &Kernels<float>::batch_metrics;

TEST_CASE("batch_metrics: batches add up", "[batch_metrics]") {
  const float nan = std::nanf("");
  const Buffer<float> scores({1, 5, 2,     //
                              -1, -3, -1,  // the first of equals
                              nan, 1, 2,   //
                              0, 0, 9}),
      loss({0.5f}), second_loss({3});
  const Buffer<int32_t> labels({1, 2, 0, -100});
  for (const Backend* row : rows_with(kMetrics)) {
    INFO(row->name);
    Context context(*row);
    BatchSums sums;
    row->f32.batch_metrics(context, {4, 3}, 1, loss.get(), scores.get(), labels.get(), &sums);
    CHECK(sums.loss == 2);
    CHECK(sums.correct == 2);
    row->f32.batch_metrics(context, {1, 3}, 2, second_loss.get(), scores.get(), labels.get(), &sums);
    CHECK(sums.loss == 5);
    CHECK(sums.correct == 3);
    row->f32.batch_metrics(context, {0, 3}, 3, loss.get(), scores.get(), labels.get(), &sums);
    CHECK(sums.loss == 5);
    CHECK(sums.correct == 3);
    CHECK(context.status->ok());
  }
}

TEST_CASE("batch_metrics: the first step whose loss is not finite stays, and optimizers stand still",
          "[batch_metrics]") {
  const Buffer<float> scores({1, 5}), dw({1.0f}), sound({0.5f}), bad({-std::numeric_limits<float>::infinity()}),
      worse({std::nanf("")});
  const Buffer<int32_t> labels({1}), no_class({2});
  for (const Backend* row : rows_with(kMetrics)) {
    INFO(row->name);
    Context context(*row);
    BatchSums sums;
    Buffer<float> w({3}), velocity({2}), loss(1);
    const auto metrics = [&](int64_t step, const Buffer<float>& value) {
      row->f32.batch_metrics(context, {1, 2}, step, value.get(), scores.get(), labels.get(), &sums);
      row->f32.sgd_step(context, 1, {0.1, 0.9, 0, false}, dw.get(), velocity.get(), w.get());
    };
    metrics(7, sound);
    CHECK(context.status->ok());
    CHECK(w[0] != 3);
    const std::vector<float> weights = w.values(), moved = velocity.values();
    metrics(8, bad);
    metrics(9, worse);
    metrics(10, sound);
    row->f32.softmax_cross_entropy(context, {1, 2}, {}, scores.get(), no_class.get(), nullptr, loss.get(), nullptr);
    CHECK(std::isnan(loss[0]));
    CHECK(context.status->step == 8);
    CHECK(context.status->loss == -std::numeric_limits<double>::infinity());
    CHECK(context.status->op == LabelOp::none);
    CHECK(w.values() == weights);
    CHECK(velocity.values() == moved);

    *context.status = {};
    row->f32.softmax_cross_entropy(context, {1, 2}, {}, scores.get(), no_class.get(), nullptr, loss.get(), nullptr);
    metrics(11, loss);
    CHECK(context.status->op == LabelOp::cross_entropy);
    CHECK(context.status->label == 2);
    CHECK(context.status->classes == 2);
    CHECK(context.status->step == 0);
    CHECK(w.values() == weights);
  }
}

TEST_CASE("batch_metrics: every row against the reference", "[batch_metrics]") {
  std::vector<RowsShape> shapes{{1000, 10}, {7, 1000}, {70000, 1}};
  for (const int cols : odd_sizes()) shapes.push_back({40, cols});
  for (const RowsShape& shape : shapes) {
    auto scores = Buffer<float>::random(shape.count(), 1);
    for (int64_t i = 0; i < scores.size(); ++i) scores[i] = std::round(scores[i] * 8);  // so that there are equal ones
    Context reference(reference_row());
    Buffer<int32_t> labels(shape.rows);
    reference_row().f32.arg_reduce(reference, ArgOp::max, {shape.rows, shape.cols}, scores.get(), labels.get());
    for (int64_t i = 0; i < shape.rows; i += 3) labels[i] = -100;
    const Buffer<float> loss({0.3f});
    BatchSums expected;
    const Buffer<double> scores64 = convert<double>(scores), loss64 = convert<double>(loss);
    reference_row().f64.batch_metrics(reference, shape, 1, loss64.get(), scores64.get(), labels.get(), &expected);
    CHECK(expected.correct == shape.rows - (shape.rows + 2) / 3);
    for (const Backend* row : rows_with(kMetrics)) {
      INFO(row->name << ", " << shape.rows << " x " << shape.cols);
      Context context(*row);
      BatchSums sums;
      row->f32.batch_metrics(context, shape, 1, loss.get(), scores.get(), labels.get(), &sums);
      CHECK(sums.correct == expected.correct);
      CHECK(sums.loss == expected.loss);
    }
  }
}

}  // namespace
}  // namespace dnn::test
