#include "reductions.h"

namespace dnn::test {
namespace {

const auto kReduce = &Kernels<float>::reduce;

const std::vector<std::pair<std::string, ReduceOp>>& reductions() {
  static const std::vector<std::pair<std::string, ReduceOp>> all{
      {"sum", ReduceOp::sum}, {"prod", ReduceOp::prod}, {"max", ReduceOp::max}, {"min", ReduceOp::min}};
  return all;
}

TEST_CASE("reduce: values by hand", "[reduce]") {
  const Buffer<float> x({1, -2, 3, 4, 5, 6});
  for (const Backend* row : rows_with(kReduce)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> one(1), two(2), three(3), six(6);
    const auto run = [&](ReduceOp op, const std::string& reduced, double scale, Buffer<float>& y) {
      row->f32.reduce(context, op, reduced_shape({2, 3}, reduced), scale, x.get(), y.get());
      return y;
    };
    check_values<float>(run(ReduceOp::sum, "11", 1, one), {17});
    check_values<float>(run(ReduceOp::sum, "01", 1, two), {2, 15});
    check_values<float>(run(ReduceOp::sum, "10", 0.5, three), {2.5f, 1.5f, 4.5f});
    check_values<float>(run(ReduceOp::sum, "00", -1, six), {-1, 2, -3, -4, -5, -6});
    check_values<float>(run(ReduceOp::prod, "11", 1, one), {-720});
    check_values<float>(run(ReduceOp::prod, "01", 2, two), {-12, 240});
    check_values<float>(run(ReduceOp::prod, "10", 1, three), {4, -10, 18});
    check_values<float>(run(ReduceOp::max, "11", 1, one), {6});
    check_values<float>(run(ReduceOp::max, "01", 1, two), {3, 6});
    check_values<float>(run(ReduceOp::max, "10", 1, three), {4, 5, 6});
    check_values<float>(run(ReduceOp::min, "11", 1, one), {-2});
    check_values<float>(run(ReduceOp::min, "01", 1, two), {-2, 4});
    check_values<float>(run(ReduceOp::min, "10", 1, three), {1, -2, 3});
  }
}

TEST_CASE("reduce: nothing, and a number alone", "[reduce]") {
  const float inf = std::numeric_limits<float>::infinity();
  const Buffer<float> x({5});
  for (const Backend* row : rows_with(kReduce)) {
    INFO(row->name);
    Context context(*row);
    const std::vector<float> of_nothing{0, 2, -inf, inf};
    for (size_t i = 0; i < reductions().size(); ++i) {
      const auto& [name, op] = reductions()[i];
      INFO(name);
      Buffer<float> three(3), none(0), one(1);
      row->f32.reduce(context, op, reduced_shape({0, 3}, "10"), 2, x.get(), three.get());
      three.check_guards();
      CHECK(three.values() == std::vector<float>(3, of_nothing[i]));
      row->f32.reduce(context, op, reduced_shape({0, 3}, "01"), 2, x.get(), none.get());
      none.check_guards();
      row->f32.reduce(context, op, reduced_shape({0, 3}, "11"), 2, x.get(), one.get());
      CHECK(one[0] == of_nothing[i]);
      row->f32.reduce(context, op, ReduceShape{}, 2, x.get(), one.get());
      check_values<float>(one, {10});
    }
  }
}

TEST_CASE("reduce: every row against the reference", "[reduce]") {
  for (const auto& [size, reduced] : reduce_cases()) {
    const ReduceShape shape = reduced_shape(size, reduced);
    for (const auto& [name, op] : reductions()) {
      auto x = Buffer<float>::random(shape.in_count(), 1);
      if (op == ReduceOp::prod) {  // near 1, so that products of many stay numbers
        for (int64_t i = 0; i < x.size(); ++i) x[i] = (x[i] < 0 ? -1.0f : 1.0f) * std::exp(0.02f * x[i]);
      }
      const Buffer<double> x64 = convert<double>(x);
      Context reference(reference_row());
      Buffer<double> y64(shape.out_count()), scale(shape.out_count());
      reference_row().f64.reduce(reference, op, shape, 0.25, x64.get(), y64.get());
      scale = y64;
      if (op == ReduceOp::sum) {
        reference_row().f64.reduce(reference, op, shape, 0.25, absolute(x64).get(), scale.get());
      }
      for (const Backend* row : rows_with(kReduce)) {
        INFO(name << " on " << row->name << ", " << Catch::Detail::stringify(size) << ", reduced " << reduced);
        std::vector<float> of_one_thread;
        with_threads(*row, [&, &op = op](Context& context, int threads) {
          Buffer<float> y(shape.out_count());
          row->f32.reduce(context, op, shape, 0.25, x.get(), y.get());
          check_close(y, y64, scale, cells_of(shape));
          if (threads == 1) of_one_thread = y.values();
          REQUIRE((y.values() == of_one_thread));
        });
      }
    }
  }
}

TEST_CASE("reduce: a NaN or an infinity among the values, wherever it is", "[reduce]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const Backend* row : rows_with(kReduce)) {
    for (const int size : {1, 2, 7, 40, 131}) {
      for (const int cols : {1, 3, 19}) {
        INFO(row->name << ", " << size << " x " << cols);
        Context context(*row);
        for (int place = 0; place < size; ++place) {
          Buffer<float> x(int64_t{size} * cols, 2), columns(cols), rows(size);
          const auto check = [&](float bad, ReduceOp op, float expected) {
            x[place * cols + cols / 2] = bad;
            row->f32.reduce(context, op, reduced_shape({size, cols}, "10"), 1, x.get(), columns.get());
            row->f32.reduce(context, op, reduced_shape({size, cols}, "01"), 1, x.get(), rows.get());
            const auto same = [&](float y) { return std::isnan(expected) ? std::isnan(y) : y == expected; };
            if (!same(columns[cols / 2]) || !same(rows[place])) {
              FAIL(bad << " at " << place << ": " << columns[cols / 2] << ", " << rows[place]);
            }
            if (cols > 1 && std::isnan(columns[0])) FAIL("a NaN in another column");
          };
          for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min}) check(nan, op, nan);
          check(inf, ReduceOp::max, inf);
          check(-inf, ReduceOp::min, -inf);
          check(-inf, ReduceOp::prod, -inf);
        }
      }
    }
  }
}

TEST_CASE("reduce: a product passes numbers that a float does not hold", "[reduce]") {
  const Buffer<float> x({1e30f, 1e30f, 1e-30f, 1e-30f, 3});
  for (const Backend* row : rows_with(kReduce)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(1);
    row->f32.reduce(context, ReduceOp::prod, reduced_shape({5}, "1"), 1, x.get(), y.get());
    CHECK(y[0] == Approx(3).epsilon(1e-6));
    row->f32.reduce(context, ReduceOp::prod, reduced_shape({5, 1}, "10"), 1, x.get(), y.get());
    CHECK(y[0] == Approx(3).epsilon(1e-6));
  }
}

TEST_CASE("reduce: the mean of 4097x4097 ones is 1", "[reduce]") {
  // A plain float sum would stop growing at 2^24.
  const int64_t size = 4097;
  const Buffer<float> x(size * size, 1);
  for (const Backend* row : rows_with(kReduce)) {
    INFO(row->name);
    Context context(*row);
    for (const ReduceShape& shape : {reduced_shape({size * size}, "1"), reduced_shape({size * size, 1}, "10")}) {
      Buffer<float> one(1);
      row->f32.reduce(context, ReduceOp::sum, shape, 1 / (4097.0 * 4097.0), x.get(), one.get());
      CHECK(one[0] == 1);
    }
  }
}

}  // namespace
}  // namespace dnn::test
