#include <cstring>
#include <random>

#include "rows.h"

namespace dnn::test {
namespace {

// One side of a copy: dimensions of the given sizes in memory, the first of `order` the slowest, with gaps and flips.
struct Side {
  std::array<int64_t, kMaxDims> stride{};
  int64_t offset = 0, count = 1;

  Side(const std::vector<int>& size, const std::vector<int>& order, const std::vector<int>& gap = {},
       const std::vector<bool>& flip = {}) {
    for (size_t i = order.size(); i-- > 0;) {
      const int d = order[i];
      const int64_t step = count * (gap.empty() ? 1 : gap[d]);
      stride[d] = step;
      count = std::max<int64_t>(step * size[d], 1);
      if (!flip.empty() && flip[d] && size[d] > 0) {
        stride[d] = -step;
        offset += (size[d] - 1) * step;
      }
    }
    if (std::count(size.begin(), size.end(), 0) > 0) offset = 0;
  }
};

std::vector<int> in_order(size_t dims) {
  std::vector<int> order(dims);
  for (size_t i = 0; i < dims; ++i) order[i] = static_cast<int>(i);
  return order;
}

StridedShape shape_of(const std::vector<int>& size, const Side& x, const Side& y) {
  StridedShape shape;
  shape.dims = static_cast<int>(size.size());
  std::copy(size.begin(), size.end(), shape.size.begin());
  shape.x_stride = x.stride;
  shape.y_stride = y.stride;
  return shape;
}

// All rows as the reference, for elements of every size; what lies between the elements of y stays.
void compare(const std::vector<int>& size, const Side& x_side, const Side& y_side) {
  const StridedShape shape = shape_of(size, x_side, y_side);
  for (const int element : {1, 2, 4, 8}) {
    Buffer<uint8_t> x(x_side.count * element), y(y_side.count * element), expected(y.size());
    for (int64_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 31 + i / 251);
    for (int64_t i = 0; i < y.size(); ++i) expected[i] = static_cast<uint8_t>(i * 7 + 3);
    const Buffer<uint8_t> before = expected;
    Context reference(reference_row());
    const auto run = [&](Context& context, Buffer<uint8_t>& to) {
      context.backend.raw.copy_strided(context, shape, element, x.get() + x_side.offset * element,
                                       to.get() + y_side.offset * element);
    };
    run(reference, expected);
    expected.check_guards();
    for (const Backend* row : rows_with(&RawKernels::copy_strided)) {
      INFO(row->name << ", elements of " << element << " bytes, " << Catch::Detail::stringify(size));
      Context context(*row);
      y = before;
      run(context, y);
      y.check_guards();
      REQUIRE((y.values() == expected.values()));
    }
  }
}

// y's dimension i is x's dimension axes[i]; both dense.
void compare_transposed(const std::vector<int>& x_size, const std::vector<int>& axes) {
  std::vector<int> size, x_order(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    size.push_back(x_size[axes[i]]);
    x_order[axes[i]] = static_cast<int>(i);
  }
  compare(size, Side(size, x_order), Side(size, in_order(size.size())));
}

template <class T>
std::vector<T> copied(const Backend& row, const StridedShape& shape, const std::vector<T>& x, int64_t x_offset,
                      const std::vector<T>& before, int64_t y_offset = 0) {
  Context context(row);
  const Buffer<T> from(x);
  Buffer<T> y(before);
  row.raw.copy_strided(context, shape, sizeof(T), from.get() + x_offset, y.get() + y_offset);
  y.check_guards();
  return y.values();
}

TEST_CASE("copy_strided: values by hand", "[copy_strided]") {
  using Values = std::vector<float>;
  const Values x{1, 2, 3, 4, 5, 6}, zeros(6), six(6, 9);
  for (const Backend* row : rows_with(&RawKernels::copy_strided)) {
    INFO(row->name);
    CHECK(copied(*row, {2, {3, 2}, {1, 3}, {2, 1}}, x, 0, zeros) == Values{1, 4, 2, 5, 3, 6});   // transposed
    CHECK(copied(*row, {2, {2, 3}, {3, -1}, {3, 1}}, x, 2, zeros) == Values{3, 2, 1, 6, 5, 4});  // flipped
    CHECK(copied(*row, {2, {2, 3}, {0, 1}, {3, 1}}, x, 1, zeros) == Values{2, 3, 4, 2, 3, 4});   // a row repeated
    CHECK(copied(*row, {2, {2, 3}, {1, 0}, {3, 1}}, x, 0, zeros) == Values{1, 1, 1, 2, 2, 2});   // a column repeated
    CHECK(copied(*row, {2, {2, 2}, {3, 2}, {2, 1}}, x, 0, six) == Values{1, 3, 4, 6, 9, 9});     // every second
    CHECK(copied(*row, {2, {2, 1}, {1, 1}, {3, 1}}, x, 0, six, 2) == Values{9, 9, 1, 9, 9, 2});  // a part of a join
    CHECK(copied(*row, {}, x, 3, six) == Values{4, 9, 9, 9, 9, 9});                              // a scalar
    CHECK(copied(*row, {2, {0, 3}, {3, 1}, {3, 1}}, x, 0, six) == six);
    CHECK(copied<uint8_t>(*row, {2, {3, 2}, {1, 3}, {2, 1}}, {1, 2, 3, 4, 5, 6}, 0, std::vector<uint8_t>(6)) ==
          std::vector<uint8_t>{1, 4, 2, 5, 3, 6});
  }
}

TEST_CASE("copy_strided: every row transposes as the reference", "[copy_strided]") {
  std::vector<std::pair<std::vector<int>, std::vector<int>>> shapes{{{2, 7, 5, 24}, {0, 3, 1, 2}},
                                                                    {{2, 24, 7, 5}, {0, 2, 3, 1}},
                                                                    {{3, 28, 28, 3}, {0, 3, 1, 2}},
                                                                    {{3, 3, 28, 28}, {0, 2, 3, 1}},
                                                                    {{4, 6, 6, 256}, {0, 3, 1, 2}},
                                                                    {{0, 6, 6, 8}, {0, 3, 1, 2}},
                                                                    {{2, 3, 4, 5, 6, 7}, {5, 3, 1, 0, 2, 4}},
                                                                    {{5, 4, 3}, {2, 1, 0}},
                                                                    {{5, 4, 3}, {1, 0, 2}},
                                                                    {{400, 300}, {1, 0}},
                                                                    {{1, 70001}, {1, 0}},
                                                                    {{100003}, {0}}};
  for (const int size : odd_sizes()) {
    shapes.push_back({{size, 19}, {1, 0}});
    shapes.push_back({{19, size}, {1, 0}});
    shapes.push_back({{2, size, 5, 16}, {0, 3, 1, 2}});
    shapes.push_back({{2, 4, 5, size}, {0, 3, 1, 2}});
  }
  for (const auto& [size, axes] : shapes) compare_transposed(size, axes);
}

TEST_CASE("copy_strided: every row copies pitched rows as the reference", "[copy_strided]") {
  std::vector<std::vector<int>> sizes{{0, 5}, {1, 50021}, {3, 20000}, {1000, 192}, {40000, 3}};
  for (const int cols : odd_sizes()) sizes.push_back({6, cols});
  for (const std::vector<int>& size : sizes) {
    const auto pitched = [&](int gap) {
      Side side(size, {0, 1});
      side.stride[0] = size[1] + gap;
      side.count = int64_t{size[0]} * side.stride[0] + 1;
      return side;
    };
    for (const auto& [x_gap, y_gap] : {std::pair(0, 0), std::pair(0, 5), std::pair(13, 0), std::pair(3, 8)}) {
      compare(size, pitched(x_gap), pitched(y_gap));
    }
  }
}

TEST_CASE("copy_strided: orders, steps, flips and repetitions of one to six dimensions", "[copy_strided]") {
  std::mt19937 random(1);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<uint32_t>(limit)); };
  for (int trial = 0; trial < 300; ++trial) {
    const size_t dims = 1 + static_cast<size_t>(trial) % kMaxDims;
    const std::vector<int> choices = dims <= 2   ? std::vector<int>{0, 1, 2, 7, 33, 300}
                                     : dims <= 4 ? std::vector<int>{0, 1, 2, 3, 5, 9, 17}
                                                 : std::vector<int>{1, 2, 3, 4};
    std::vector<int> size, x_gap, y_gap, x_order = in_order(dims), y_order = in_order(dims);
    std::vector<bool> x_flip, y_flip;
    for (size_t i = 0; i < dims; ++i) {
      const int choice = below(static_cast<int>(choices.size()) + 3);  // a size of 0 not too often
      size.push_back(choices[std::min(choices.size() - 1, static_cast<size_t>(choice))]);
      x_gap.push_back(1 + below(4) / 3);
      y_gap.push_back(1 + below(4) / 3);
      x_flip.push_back(below(4) == 0);
      y_flip.push_back(below(8) == 0);
    }
    std::shuffle(x_order.begin(), x_order.end(), random);
    if (trial % 2) std::shuffle(y_order.begin(), y_order.end(), random);
    Side x(size, x_order, x_gap, x_flip);
    if (trial % 5 == 0) x.stride[below(static_cast<int>(dims))] = 0;
    compare(size, x, Side(size, y_order, y_gap, y_flip));
  }
}

TEST_CASE("copy_strided: dimensions that repeat", "[copy_strided]") {
  for (const std::vector<int>& size :
       {std::vector<int>{3, 50000}, {50000, 3}, {17, 5, 9}, {4, 3, 2, 5, 3, 2}, {1, 1}, {40000}}) {
    for (size_t repeated = 0; repeated < size.size(); ++repeated) {
      std::vector<int> x_size = size;
      x_size[repeated] = 1;
      Side x(x_size, in_order(size.size()));
      x.stride[repeated] = 0;
      compare(size, x, Side(size, in_order(size.size())));
    }
  }
}

TEST_CASE("fill: elements of every size", "[fill]") {
  const uint64_t bits = 0x0123456789abcdef, same_halves = 0x4060000040600000;
  for (const Backend* row : rows_with(&RawKernels::fill)) {
    for (const int element : {1, 2, 4, 8}) {
      for (const int64_t count : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100003}) {
        INFO(row->name << ", " << count << " elements of " << element << " bytes");
        Context context(*row);
        Buffer<uint8_t> y(count * element), z(count * 8);
        row->raw.fill(context, element, count, bits, y.get());
        row->raw.fill(context, 8, count, same_halves, z.get());
        y.check_guards();
        z.check_guards();
        bool right = true;
        for (int64_t i = 0; i < count; ++i) {
          right = right && std::memcmp(y.get() + i * element, &bits, static_cast<size_t>(element)) == 0 &&
                  std::memcmp(z.get() + i * 8, &same_halves, 8) == 0;
        }
        REQUIRE(right);
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
