#include "rows.h"

namespace dnn::test {
namespace {

const auto kSum = &Kernels<float>::sum;

// `reduced` names the dimensions by position, as a word of 0s and 1s.
ReduceShape reduce(const std::vector<int64_t>& size, const std::string& reduced) {
  ReduceShape shape;
  shape.dims = static_cast<int>(size.size());
  for (int d = 0; d < shape.dims; ++d) {
    shape.size[d] = size[d];
    shape.reduced[d] = reduced[d] == '1';
  }
  return shape;
}

TEST_CASE("sum: values by hand", "[sum]") {
  const Buffer<float> x({1, 2, 3, 4, 5, 6});
  for (const Backend* row : rows_with(kSum)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> one(1), two(2), three(3), six(6);
    row->f32.sum(context, reduce({2, 3}, "11"), 1, x.get(), one.get());
    check_values<float>(one, {21});
    row->f32.sum(context, reduce({2, 3}, "01"), 1, x.get(), two.get());
    check_values<float>(two, {6, 15});
    row->f32.sum(context, reduce({2, 3}, "10"), 0.5f, x.get(), three.get());
    check_values<float>(three, {2.5f, 3.5f, 4.5f});
    row->f32.sum(context, reduce({2, 3}, "00"), -1, x.get(), six.get());
    check_values<float>(six, {-1, -2, -3, -4, -5, -6});
  }
}

TEST_CASE("sum: the sum of nothing is 0, a number is its own sum", "[sum]") {
  const Buffer<float> x({5});
  for (const Backend* row : rows_with(kSum)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> three(3), none(0), one(1);
    row->f32.sum(context, reduce({0, 3}, "10"), 2, x.get(), three.get());
    check_values<float>(three, {0, 0, 0});
    row->f32.sum(context, reduce({0, 3}, "01"), 2, x.get(), none.get());
    none.check_guards();
    row->f32.sum(context, reduce({0, 3}, "11"), 2, x.get(), one.get());
    check_values<float>(one, {0});
    row->f32.sum(context, ReduceShape{}, 2, x.get(), one.get());
    check_values<float>(one, {10});
  }
}

TEST_CASE("sum: every row against the reference", "[sum]") {
  std::vector<std::pair<std::vector<int64_t>, std::string>> shapes{
      {{100003}, "1"},           {{300, 257}, "10"},
      {{300, 257}, "01"},        {{70001, 3}, "10"},
      {{3, 70001}, "01"},        {{8, 14, 14, 24}, "1110"},
      {{8, 14, 14, 24}, "0110"}, {{8, 14, 14, 24}, "0111"},
      {{8, 14, 14, 24}, "1001"}, {{5, 6, 7, 8}, "1010"},
      {{5, 6, 7, 8}, "0101"},    {{2, 3, 4, 5, 6, 7}, "101010"},
      {{1, 9, 1, 8}, "1010"},    {{2, 3, 4, 5, 6, 7}, "010101"},
      {{1000, 1}, "01"}};
  for (const int size : odd_sizes()) {
    shapes.push_back({{size, size}, "01"});
    shapes.push_back({{size, size}, "10"});
    shapes.push_back({{4, size, 5}, "101"});
    shapes.push_back({{4, 3, size}, "010"});
  }
  for (const auto& [size, reduced] : shapes) {
    const ReduceShape shape = reduce(size, reduced);
    const auto x = Buffer<float>::random(shape.in_count(), 1);
    const Buffer<double> x64 = convert<double>(x);
    Context reference(reference_row());
    Buffer<double> y64(shape.out_count()), scale(shape.out_count());
    reference_row().f64.sum(reference, shape, 0.25, x64.get(), y64.get());
    reference_row().f64.sum(reference, shape, 0.25, absolute(x64).get(), scale.get());
    for (const Backend* row : rows_with(kSum)) {
      INFO(row->name << ", " << Catch::Detail::stringify(size) << ", reduced " << reduced);
      std::vector<float> of_one_thread;
      for (const int threads : {1, 2, 3}) {
        Context context(*row);
        context.threads = threads;
        Buffer<float> y(shape.out_count());
        row->f32.sum(context, shape, 0.25f, x.get(), y.get());
        check_close(y, y64, scale, static_cast<double>(shape.in_count()) / static_cast<double>(shape.out_count()));
        if (threads == 1) of_one_thread = y.values();
        REQUIRE((y.values() == of_one_thread));
      }
    }
  }
}

TEST_CASE("sum: the mean of 4097x4097 ones is 1", "[sum]") {
  // A plain float sum would stop growing at 2^24.
  const int64_t size = 4097;
  const Buffer<float> x(size * size, 1);
  for (const Backend* row : rows_with(kSum)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> one(1);
    row->f32.sum(context, reduce({size * size}, "1"), 1.0f / (4097.0f * 4097.0f), x.get(), one.get());
    check_values<float>(one, {1});
    row->f32.sum(context, reduce({size * size, 1}, "10"), 1.0f / (4097.0f * 4097.0f), x.get(), one.get());
    check_values<float>(one, {1});
  }
}

}  // namespace
}  // namespace dnn::test
