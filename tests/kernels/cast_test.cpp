#include <kernels/convert.h>

#include <cstring>
#include <limits>

#include "rows.h"

namespace dnn::test {
namespace {

constexpr DType kAll[] = {DType::float32, DType::float64,  DType::int32, DType::uint8,
                          DType::float16, DType::bfloat16, DType::int64, DType::boolean};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class To, class From>
std::vector<To> cast_on(const Backend& row, const std::vector<From>& x, DType from, DType to) {
  Context context(row);
  std::vector<To> y(x.size());
  row.raw.cast(context, from, to, static_cast<int64_t>(x.size()), x.data(), y.data());
  return y;
}

TEST_CASE("cast: values by hand", "[cast]") {
  // Repeated, so that vectors see them as well as the loops over what is left.
  const auto four_times = [](auto list) {
    const auto once = list;
    for (int i = 0; i < 3; ++i) list.insert(list.end(), once.begin(), once.end());
    return list;
  };
  const std::vector<float> floats =
      four_times(std::vector<float>{-INFINITY, -3e9f, -0x1p31f, -300, -1, -0.99f, -0.0f, 0.99f, 1.5f, 254.99f, 255, 256,
                                    0x1p31f, 1e30f, INFINITY, NAN});
  const int32_t least = INT32_MIN, most = INT32_MAX;
  const std::vector<int32_t> as_int32 =
      four_times(std::vector<int32_t>{least, least, least, -300, -1, 0, 0, 0, 1, 254, 255, 256, most, most, most, 0});
  const std::vector<uint8_t> as_uint8 =
      four_times(std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 1, 254, 255, 255, 255, 255, 255, 0});
  const std::vector<uint8_t> as_bool = four_times(std::vector<uint8_t>{1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  for (const Backend* row : rows_with(&RawKernels::cast)) {
    INFO(row->name);
    CHECK(cast_on<int32_t>(*row, floats, DType::float32, DType::int32) == as_int32);
    CHECK(cast_on<uint8_t>(*row, floats, DType::float32, DType::uint8) == as_uint8);
    CHECK(cast_on<uint8_t>(*row, floats, DType::float32, DType::boolean) == as_bool);
    const std::vector<int64_t> wide{-1, 256 + 7, int64_t{1} << 32, (int64_t{1} << 31) + 5};
    CHECK(cast_on<int32_t>(*row, wide, DType::int64, DType::int32) == std::vector<int32_t>{-1, 263, 0, least + 5});
    CHECK(cast_on<uint8_t>(*row, wide, DType::int64, DType::uint8) == std::vector<uint8_t>{255, 7, 0, 5});
    const std::vector<double> doubles{0x1p63, -0x1p63, 1e300, -kInfinity, kNaN, -2.9, 0x1p62};
    CHECK(cast_on<int64_t>(*row, doubles, DType::float64, DType::int64) ==
          std::vector<int64_t>{INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0, -2, int64_t{1} << 62});
    const std::vector<uint8_t> truth{0, 1, 1};
    CHECK(cast_on<float>(*row, truth, DType::boolean, DType::float32) == std::vector<float>{0, 1, 1});
    const std::vector<uint16_t> halves{0x3c00, 0xc500, 0x7c00, 0x0001};
    CHECK(cast_on<float>(*row, halves, DType::float16, DType::float32) ==
          std::vector<float>{1, -5, INFINITY, 0x1p-24f});
    CHECK(cast_on<int32_t>(*row, halves, DType::float16, DType::int32) == std::vector<int32_t>{1, -5, most, 0});
  }
}

template <class T>
std::vector<T> samples(int64_t count) {
  std::vector<T> x(static_cast<size_t>(count));
  uint64_t state = 1;
  for (T& value : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if constexpr (std::is_same_v<T, bool>) {
      value = state >> 63;
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(static_cast<double>(state >> 40) / 0x1p15 - 256);
    } else {
      std::memcpy(static_cast<void*>(&value), &state, sizeof value);
    }
  }
  return x;
}

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

TEST_CASE("cast: all rows, from every type to every other", "[cast]") {
  for (const DType from : kAll) {
    for (const DType to : kAll) {
      for (const int64_t count : {0, 1, 7, 8, 15, 16, 17, 33, 40003}) {
        with_type(from, [&]<class From>(From) {
          with_type(to, [&]<class To>(To) {
            Buffer<uint8_t> x(count * int64_t{sizeof(From)}), y(count * int64_t{sizeof(To)});
            int64_t filled = 0;
            if constexpr (std::is_same_v<From, bool>) {
              for (int64_t i = 0; i < count; ++i) x[i] = i % 3 == 0;
            } else {
              const auto list = samples<From>(count);
              for (const From& value : list) std::memcpy(x.get() + filled++ * sizeof(From), &value, sizeof value);
            }
            for (const Backend* row : rows_with(&RawKernels::cast)) {
              INFO(row->name << ", " << count << " of " << name_of(from) << " to " << name_of(to));
              Context context(*row);
              row->raw.cast(context, from, to, count, x.get(), y.get());
              y.check_guards();
              int64_t wrong = -1;
              for (int64_t i = 0; i < count && wrong < 0; ++i) {
                From value;
                To got;
                std::memcpy(static_cast<void*>(&value), x.get() + i * sizeof value, sizeof value);
                std::memcpy(static_cast<void*>(&got), y.get() + i * sizeof got, sizeof got);
                if (!same(got, convert_element<To>(value))) wrong = i;
              }
              REQUIRE(wrong == -1);
            }
          });
        });
      }
    }
  }
}

// half_test.cpp says that Float16 and BFloat16 convert as they should.
TEST_CASE("cast: all halves, and the floats at and beside the middles between them", "[cast]") {
  std::vector<uint16_t> bits(1 << 16);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  std::vector<float> floats;
  for (uint32_t i = 0; i < 1 << 16; ++i) {
    for (const uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      floats.push_back(std::bit_cast<float>(i << 16 | low));
    }
    // In the steps of a float16, from the smallest.
    for (const uint32_t low : {0x0fffu, 0x1000u, 0x1001u}) floats.push_back(std::bit_cast<float>((i << 13) + low));
  }
  for (const Backend* row : rows_with(&RawKernels::cast)) {
    INFO(row->name);
    const auto check_type = [&]<class Half>(Half, DType type) {
      const auto wide = cast_on<float>(*row, bits, type, DType::float32);
      const auto narrow = cast_on<uint16_t>(*row, floats, DType::float32, type);
      int64_t wrong = 0;
      for (size_t i = 0; i < bits.size(); ++i) wrong += !same(wide[i], float(Half::from_bits(bits[i])));
      for (size_t i = 0; i < floats.size(); ++i) {
        const Half right(floats[i]), got = Half::from_bits(narrow[i]);
        wrong += got.bits != right.bits && !(std::isnan(float(right)) && std::isnan(float(got)));
      }
      CHECK(wrong == 0);
    };
    check_type(Float16(), DType::float16);
    check_type(BFloat16(), DType::bfloat16);
  }
}

}  // namespace
}  // namespace dnn::test
