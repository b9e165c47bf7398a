#include <cstring>
#include <random>

#include "cpu_rows.h"

namespace dnn::test {
namespace {

template <class Index>
constexpr DType kIndexType = sizeof(Index) == 8 ? DType::int64 : DType::int32;

template <class Index>
std::vector<Index> random_index(const GatherShape& s, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Index> index(static_cast<size_t>(s.index_each ? s.outer * s.count * s.inner : s.count));
  for (Index& i : index) i = static_cast<Index>(random() % static_cast<uint64_t>(s.size));
  return index;
}

std::vector<GatherShape> shapes() {
  std::vector<GatherShape> list{{0, 5, 3, 2}, {2, 5, 0, 4},     {2, 5, 3, 0},       {1, 1, 1, 1},    {1, 7, 20000, 1},
                                {3, 9, 4, 1}, {1, 50, 900, 64}, {1, 1000, 70, 300}, {700, 5, 3, 31}, {40, 33, 1, 1}};
  for (const int inner : odd_sizes()) list.push_back({2, 11, 13, inner});
  const size_t rows = list.size();
  for (size_t i = 0; i < rows; ++i) {
    list.push_back(list[i]);
    list.back().index_each = true;
  }
  return list;
}

template <class Index>
void compare_gather(GatherShape s) {
  s.index_type = kIndexType<Index>;
  const auto index = random_index<Index>(s, 3);
  for (const int element : {1, 2, 4, 8}) {
    Buffer<uint8_t> x(s.outer * s.size * s.inner * element);
    for (int64_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 31 + i / 251);
    Buffer<uint8_t> expected(s.outer * s.count * s.inner * element);
    Context reference(reference_row());
    reference_row().raw.gather_rows(reference, s, element, x.get(), index.data(), expected.get());
    for (const Backend* row : rows_with(&RawKernels::gather_rows)) {
      INFO(row->name << ": " << s.outer << ", " << s.size << " to " << s.count << ", " << s.inner << " of " << element);
      Context context(*row);
      Buffer<uint8_t> y(expected.size());
      row->raw.gather_rows(context, s, element, x.get(), index.data(), y.get());
      y.check_guards();
      REQUIRE((y.values() == expected.values()));
    }
  }
}

template <class Index>
void compare_scatter(GatherShape s) {
  s.index_type = kIndexType<Index>;
  const auto index = random_index<Index>(s, 5);
  const int64_t count = s.outer * s.count * s.inner, results = s.outer * s.size * s.inner;
  const auto x = Buffer<float>::random(count, 1), before = Buffer<float>::random(results, 2);
  Buffer<double> y64 = convert<double>(before), scale = absolute(y64);
  Context reference(reference_row());
  reference_row().f64.scatter_add(reference, s, convert<double>(x).get(), index.data(), y64.get());
  reference_row().f64.scatter_add(reference, s, absolute(convert<double>(x)).get(), index.data(), scale.get());
  for (const Backend* row : rows_with(&Kernels<float>::scatter_add)) {
    INFO(row->name << ": " << s.outer << ", " << s.count << " to " << s.size << ", " << s.inner);
    Context context(*row);
    Buffer<float> y = before;
    row->f32.scatter_add(context, s, x.get(), index.data(), y.get());
    check_close(y, y64, scale, static_cast<double>(s.count));
  }
}

TEST_CASE("gather_rows, scatter_add: values by hand", "[gather]") {
  const Buffer<float> x({1, 2, 3, 4, 5, 6});
  const std::vector<int32_t> rows_of{2, 0, 2};
  const std::vector<int64_t> each{1, 0, 0, 2, 2, 1};
  for (const Backend* row : rows_with(&RawKernels::gather_rows)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(6), sum(6, 0), of_each(6), sum_of_each(6, 0);
    GatherShape s{1, 3, 3, 2};
    row->raw.gather_rows(context, s, 4, x.get(), rows_of.data(), y.get());
    check_values<float>(y, {5, 6, 1, 2, 5, 6});
    row->f32.scatter_add(context, s, x.get(), rows_of.data(), sum.get());
    check_values<float>(sum, {3, 4, 0, 0, 6, 8});
    s.index_each = true;
    s.index_type = DType::int64;
    row->raw.gather_rows(context, s, 4, x.get(), each.data(), of_each.get());
    check_values<float>(of_each, {3, 2, 1, 6, 5, 4});
    row->f32.scatter_add(context, s, x.get(), each.data(), sum_of_each.get());
    check_values<float>(sum_of_each, {3, 2, 1, 6, 5, 4});
  }
}

TEST_CASE("gather_rows: every row against the reference", "[gather]") {
  for (const GatherShape& s : shapes()) {
    compare_gather<int32_t>(s);
    compare_gather<int64_t>(s);
  }
}

TEST_CASE("scatter_add: every row against the reference", "[gather]") {
  for (const GatherShape& s : shapes()) {
    compare_scatter<int32_t>(s);
    compare_scatter<int64_t>(s);
  }
}

TEST_CASE("scatter_add: one and several threads give the same bits", "[gather]") {
  for (const bool each : {false, true}) {
    GatherShape s{2, 37, 5000, 9};
    s.index_each = each;
    const auto index = random_index<int32_t>(s, 7);
    const auto x = Buffer<float>::random(s.outer * s.count * s.inner, 1);
    for (const Backend* row : cpu_rows()) {
      check_same_bits(*row, s.outer * s.size * s.inner,
                      [&](Context& context, float* y) { row->f32.scatter_add(context, s, x.get(), index.data(), y); });
    }
  }
}

TEST_CASE("first_outside: the first of them, of any number", "[gather]") {
  const auto check_type = [](auto zero) {
    using Index = decltype(zero);
    for (const int64_t count : {0, 1, 5, 40000, 300007}) {
      std::vector<Index> index(static_cast<size_t>(count), 6);
      for (const Backend* row : rows_with(&RawKernels::first_outside)) {
        INFO(row->name << ", " << count << " indices");
        Context context(*row);
        const auto first = [&] {
          int64_t position = -7;
          row->raw.first_outside(context, kIndexType<Index>, count, 7, index.data(), &position);
          return position;
        };
        CHECK(first() == -1);
        for (const int64_t bad : {count - 1, count / 2, int64_t{0}}) {  // each before the last
          if (bad < 0 || bad >= count) continue;
          index[bad] = bad % 2 ? -1 : 7;
          CHECK(first() == bad);
        }
        std::fill(index.begin(), index.end(), Index{6});
      }
    }
  };
  check_type(int32_t{});
  check_type(int64_t{});
  const std::vector<int64_t> wide{int64_t{1} << 32};
  for (const Backend* row : rows_with(&RawKernels::first_outside)) {
    Context context(*row);
    int64_t position = 0;
    row->raw.first_outside(context, DType::int64, 1, 7, wide.data(), &position);
    CHECK(position == 0);
  }
}

}  // namespace
}  // namespace dnn::test
