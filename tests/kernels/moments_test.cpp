#include "reductions.h"

namespace dnn::test {
namespace {

const auto kMoments = &Kernels<float>::moments;

TEST_CASE("moments: values by hand", "[moments]") {
  const Buffer<float> x({1, 2, 3, 5, 5, 8});
  for (const Backend* row : rows_with(kMoments)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> mean(2), var(2), mean3(3), var3(3), one(1), none(1);
    row->f32.moments(context, reduced_shape({2, 3}, "01"), 1, x.get(), mean.get(), var.get());
    check_values<float>(mean, {2, 6});
    check_values<float>(var, {1, 3});
    row->f32.moments(context, reduced_shape({2, 3}, "01"), 0, x.get(), mean.get(), var.get());
    check_values<float>(var, {2.0f / 3, 2});
    row->f32.moments(context, reduced_shape({2, 3}, "10"), 1, x.get(), mean3.get(), var3.get());
    check_values<float>(mean3, {3, 3.5f, 5.5f});
    check_values<float>(var3, {8, 4.5f, 12.5f});
    row->f32.moments(context, reduced_shape({2, 3}, "11"), 3, x.get(), one.get(), none.get());
    check_values<float>(one, {4});
    check_values<float>(none, {32.0f / 3});
  }
}

TEST_CASE("moments: too few values", "[moments]") {
  const float inf = std::numeric_limits<float>::infinity();
  const Buffer<float> x({3, 5});
  for (const Backend* row : rows_with(kMoments)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> mean(1), var(1);
    row->f32.moments(context, reduced_shape({1}, "1"), 1, x.get(), mean.get(), var.get());
    CHECK(mean[0] == 3);
    CHECK(std::isnan(var[0]));
    row->f32.moments(context, reduced_shape({1}, "1"), 0, x.get(), mean.get(), var.get());
    CHECK(var[0] == 0);
    row->f32.moments(context, reduced_shape({2}, "1"), 2, x.get(), mean.get(), var.get());
    CHECK(var[0] == inf);
    row->f32.moments(context, reduced_shape({2}, "1"), 5, x.get(), mean.get(), var.get());
    CHECK(var[0] == inf);
    row->f32.moments(context, reduced_shape({0}, "1"), 1, x.get(), mean.get(), var.get());
    CHECK(std::isnan(mean[0]));
    CHECK(std::isnan(var[0]));
    Buffer<float> no_mean(0), no_var(0);
    row->f32.moments(context, reduced_shape({0, 3}, "01"), 1, x.get(), no_mean.get(), no_var.get());
    no_mean.check_guards();
    no_var.check_guards();
  }
}

TEST_CASE("moments: every row against the reference", "[moments]") {
  for (const auto& [size, reduced] : reduce_cases()) {
    const ReduceShape shape = reduced_shape(size, reduced);
    for (const double correction : {0.0, 1.0}) {
      const auto x = Buffer<float>::random(shape.in_count(), 1);
      Context reference(reference_row());
      Buffer<double> mean64(shape.out_count()), var64(shape.out_count());
      reference_row().f64.moments(reference, shape, correction, convert<double>(x).get(), mean64.get(), var64.get());
      const double cells = cells_of(shape);
      for (const Backend* row : rows_with(kMoments)) {
        INFO(row->name << ", " << Catch::Detail::stringify(size) << ", reduced " << reduced);
        std::vector<float> of_one_thread;
        with_threads(*row, [&, correction = correction](Context& context, int threads) {
          Buffer<float> mean(shape.out_count()), var(shape.out_count());
          row->f32.moments(context, shape, correction, x.get(), mean.get(), var.get());
          check_close(mean, mean64, 1, 1);
          if (cells > correction) check_close(var, var64, var64, 1);
          if (threads == 1) of_one_thread = mean.values();
          REQUIRE((mean.values() == of_one_thread));
        });
      }
    }
  }
}

// Rows and columns of n values f(i).
template <class F>
void check_moments(const Backend& row, int n, F&& f, double expected_mean, double expected_var) {
  Context context(row);
  for (const int cols : {1, 2, 9}) {
    Buffer<float> by_columns(int64_t{n} * cols), by_rows(int64_t{n} * cols);
    for (int i = 0; i < n; ++i) {
      for (int c = 0; c < cols; ++c) by_columns[i * cols + c] = by_rows[c * n + i] = f(i);
    }
    for (const bool columns : {true, false}) {
      INFO(row.name << ", " << n << " values in each of " << cols << (columns ? " columns" : " rows"));
      Buffer<float> mean(cols), var(cols);
      const ReduceShape shape = columns ? reduced_shape({n, cols}, "10") : reduced_shape({cols, n}, "01");
      row.f32.moments(context, shape, 0, (columns ? by_columns : by_rows).get(), mean.get(), var.get());
      for (int c = 0; c < cols; ++c) {
        CHECK(mean[c] == Approx(expected_mean).epsilon(1e-6).margin(0));
        if (std::isfinite(expected_var)) {
          CHECK(var[c] == Approx(expected_var).epsilon(1e-6).margin(0));
        } else {
          CHECK(var[c] == expected_var);
        }
      }
    }
  }
}

TEST_CASE("moments: large values, and small differences of them", "[moments]") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Backend* row : rows_with(kMoments)) {
    for (const int n : {2, 64, 3000, 40000}) {
      // Steps of 8 are a float's there.
      check_moments(
          *row, n, [](int i) { return i % 2 == 0 ? 1e8f : 1e8f + 8; }, 1e8 + 4, 16);
      check_moments(
          *row, n, [](int i) { return i % 2 == 0 ? 3e38f : 2e38f; }, 2.5e38, inf);
      check_moments(
          *row, n, [](int i) { return i % 2 == 0 ? 3e38f : 3e38f; }, 3e38, 0);
      check_moments(
          *row, n, [](int i) { return i % 2 == 0 ? 1e-15f : 3e-15f; }, 2e-15, 1e-30);
    }
    // The first value far from the others.
    const int n = 40000;
    const double mean = (1e7 + (n - 1) * 0.5) / n;
    check_moments(
        *row, n, [](int i) { return i == 0 ? 1e7f : 0.5f; }, mean,
        ((1e7 - mean) * (1e7 - mean) + (n - 1) * (0.5 - mean) * (0.5 - mean)) / n);
  }
}

TEST_CASE("moments: infinities and NaN", "[moments]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const Backend* row : rows_with(kMoments)) {
    INFO(row->name);
    Context context(*row);
    for (const ReduceShape& shape : {reduced_shape({3}, "1"), reduced_shape({3, 1}, "10")}) {
      Buffer<float> mean(1), var(1);
      const auto run = [&](const std::vector<float>& x) {
        row->f32.moments(context, shape, 1, Buffer<float>(x).get(), mean.get(), var.get());
        CHECK(std::isnan(var[0]));
      };
      run({inf, 1, 2});
      CHECK(mean[0] == inf);
      run({1, 2, -inf});
      CHECK(mean[0] == -inf);
      run({inf, 1, -inf});
      CHECK(std::isnan(mean[0]));
      run({1, nan, 2});
      CHECK(std::isnan(mean[0]));
    }
  }
}

}  // namespace
}  // namespace dnn::test
