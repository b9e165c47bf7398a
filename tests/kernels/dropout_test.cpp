#include <kernels/philox.h>

#include "rows.h"

namespace dnn::test {
namespace {

const auto kDropout = &Kernels<float>::dropout;

TEST_CASE("dropout: values by hand", "[dropout]") {
  // Seed 0, call 0: the halves of the first block are e8d5 6627, c58d e169, ac4c bc57, dbd8 9b00.
  const Buffer<float> x({1, 2, 3, 4, 5, 6, 7, 8});
  for (const Backend* row : rows_with(kDropout)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(8);
    row->f32.dropout(context, 8, 0.5f, {0, 0}, x.get(), y.get());
    check_values<float>(y, {2, 0, 6, 8, 10, 12, 14, 16});
    row->f32.dropout(context, 8, 0.75f, {0, 0}, x.get(), y.get());
    check_values<float>(y, {4, 0, 12, 16, 0, 0, 28, 0});
    row->f32.dropout(context, 8, 0, {0, 0}, x.get(), y.get());
    check_values<float>(y, {1, 2, 3, 4, 5, 6, 7, 8});
    row->f32.dropout(context, 8, 1, {0, 0}, x.get(), y.get());
    check_values<float>(y, {0, 0, 0, 0, 0, 0, 0, 0});
  }
}

TEST_CASE("dropout: the same bits on every row", "[dropout]") {
  for (const Backend* row : rows_with(kDropout)) {
    for (const int64_t count : {0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100003}) {
      for (const float p : {0.0f, 0.1f, 0.4f, 0.5f, 0.999999f}) {
        INFO(row->name << ", " << count << " values, p " << p);
        const RandomState state{0x123456789ABCDEF0, 0xFEDCBA9876543210};
        const auto x = Buffer<float>::random(count, 1);
        Context context(*row), reference(reference_row());
        Buffer<float> y(count), expected(count), in_place = x;
        row->f32.dropout(context, count, p, state, x.get(), y.get());
        reference_row().f32.dropout(reference, count, p, state, x.get(), expected.get());
        y.check_guards();
        REQUIRE((y.values() == expected.values()));
        row->f32.dropout(context, count, p, state, in_place.get(), in_place.get());
        in_place.check_guards();
        REQUIRE((in_place.values() == expected.values()));
      }
    }
  }
}

TEST_CASE("dropout: ones keep their mean, kept ones are 1 / (1 - p)", "[dropout]") {
  const int64_t count = 100000;
  const Buffer<float> x(count, 1);
  for (const Backend* row : rows_with(kDropout)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(count);
    row->f32.dropout(context, count, 0.4f, {5, 6}, x.get(), y.get());
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      REQUIRE((y[i] == 0 || y[i] == static_cast<float>(1 / 0.6)));
      sum += y[i];
    }
    CHECK(std::abs(sum / count - 1) < 0.01);
  }
}

TEST_CASE("dropout: what is dropped is 0 also where x is not finite", "[dropout]") {
  const float inf = std::numeric_limits<float>::infinity();
  for (const Backend* row : rows_with(kDropout)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> x(40), y(40);
    for (int i = 0; i < 40; ++i) x[i] = i % 2 == 0 ? inf : std::nanf("");
    row->f32.dropout(context, 40, 1, {0, 0}, x.get(), y.get());
    check_values<float>(y, std::vector<float>(40, 0));
  }
}

TEST_CASE("dropout: the gradient is the same call", "[dropout]") {
  const int64_t count = 1000;
  const auto x = Buffer<float>::random(count, 1), dy = Buffer<float>::random(count, 2);
  for (const Backend* row : rows_with(kDropout)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(count), dx(count);
    row->f32.dropout(context, count, 0.3f, {1, 2}, x.get(), y.get());
    row->f32.dropout(context, count, 0.3f, {1, 2}, dy.get(), dx.get());
    for (int64_t i = 0; i < count; ++i) REQUIRE((y[i] == 0) == (dx[i] == 0));
  }
}

}  // namespace
}  // namespace dnn::test
