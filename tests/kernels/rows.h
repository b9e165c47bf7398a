#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <kernels/backend.h>

#include "device_row.h"

// What the tests of kernels share: rows to test, operands with guard words, and the tolerance of the comparison with
// the reference in double.
namespace dnn::test {

// The rows with float kernels that this machine can run, but for meta; of them only DNN_TEST_ROW where that is set. All
// take operands on the host.
inline const std::vector<const Backend*>& rows() {
  static const std::vector<const Backend*>& found = *[] {
    auto* const list = new std::vector<const Backend*>;
    for (const Backend* row : backends()) {
      const char* const only = std::getenv("DNN_TEST_ROW");
      if (row->name == "meta" || !available(*row) || (only && row->name != only)) continue;
      list->push_back(row->device.host_memory ? row : new Backend(with_host_operands(*row)));
    }
    return list;
  }();
  return found;
}

// Those on the CPU: a stand-in for a device of another kind takes seconds for a step of a net.
inline std::vector<const Backend*> host_rows() {
  std::vector<const Backend*> found;
  for (const Backend* row : rows()) {
    if (row->kind == DeviceKind::host) found.push_back(row);
  }
  return found;
}

// Those of them that have the kernel: rows_with(&Kernels<float>::gemm), rows_with(&RawKernels::cast).
template <class Table, class Entry>
std::vector<const Backend*> rows_with(Entry Table::*kernel) {
  std::vector<const Backend*> found;
  for (const Backend* row : rows()) {
    if constexpr (std::is_same_v<Table, RawKernels>) {
      if ((row->raw.*kernel).run) found.push_back(row);
    } else {
      if ((row->f32.*kernel).run) found.push_back(row);
    }
  }
  return found;
}

inline const Backend& reference_row() { return backend("reference"); }

// A dense operand between guard words; check_guards() fails the test where a kernel wrote outside. Values are seeded,
// in [-1, 1), the same for float and double.
template <class T>
class Buffer final : public KernelOperand {
 public:
  explicit Buffer(int64_t count, T value = T{7}) : count_(count), data_(count + 2 * kGuard, value) { set_guards(); }
  Buffer(std::initializer_list<T> values) : Buffer(std::vector<T>(values)) {}
  explicit Buffer(const std::vector<T>& values) : Buffer(static_cast<int64_t>(values.size())) {
    for (int64_t i = 0; i < count_; ++i) get()[i] = values[i];
  }

  static Buffer random(int64_t count, uint32_t seed) {
    Buffer buffer(count);
    uint32_t state = seed * 2654435761u + 1;
    for (int64_t i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      buffer.get()[i] = static_cast<T>(static_cast<float>(state >> 8) / 8388608.0f - 1.0f);
    }
    return buffer;
  }

  // `rows` rows of `cols` values at a pitch. The gaps hold NaN, which shows in the results of a kernel that uses them.
  static Buffer random_rows(int64_t rows, int cols, int pitch, uint32_t seed) {
    Buffer buffer = random(rows * pitch, seed);
    for (int64_t i = 0; i < buffer.size(); ++i) {
      if (i % pitch >= cols) buffer[i] = std::numeric_limits<T>::quiet_NaN();
    }
    return buffer;
  }

  T* get() { return data_.data() + kGuard; }
  const T* get() const { return data_.data() + kGuard; }
  T& operator[](int64_t i) { return get()[i]; }
  const T& operator[](int64_t i) const { return get()[i]; }
  int64_t size() const { return count_; }
  std::vector<T> values() const { return {get(), get() + count_}; }

  std::byte* begin() override { return reinterpret_cast<std::byte*>(data_.data()); }
  size_t bytes() const override { return data_.size() * sizeof(T); }

  void check_guards() const {
    const auto intact = [this](int64_t begin) {
      return std::all_of(data_.begin() + begin, data_.begin() + begin + kGuard, [](T x) { return x == guard(); });
    };
    REQUIRE(intact(0));
    REQUIRE(intact(kGuard + count_));
  }

 private:
#ifdef __SANITIZE_ADDRESS__
  static constexpr int kGuard = 0;  // the sanitizer guards the memory, against reading too
#else
  static constexpr int kGuard = 64;
#endif
  static T guard() { return std::is_floating_point_v<T> ? static_cast<T>(-12345.678f) : static_cast<T>(77); }
  void set_guards() {
    for (int i = 0; i < kGuard; ++i) data_[i] = data_[kGuard + count_ + i] = guard();
  }

  int64_t count_;
  std::vector<T> data_;
};

template <class To, class From>
Buffer<To> convert(const Buffer<From>& from) {
  Buffer<To> to(from.size());
  for (int64_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(from[i]);
  return to;
}

template <class T>
Buffer<T> absolute(const Buffer<T>& from) {
  Buffer<T> to(from.size());
  for (int64_t i = 0; i < from.size(); ++i) to[i] = std::abs(from[i]);
  return to;
}

// |y - y64| <= 8 eps sqrt(length) * scale, element by element: `length` is that of the sum behind a value, `scale` the
// same operation on absolute values.
inline void check_close(const Buffer<float>& y, const Buffer<double>& y64, const Buffer<double>& scale, double length) {
  REQUIRE(y.size() == y64.size());
  y.check_guards();
  const double factor = 8 * std::numeric_limits<float>::epsilon() * std::sqrt(std::max(length, 1.0));
  for (int64_t i = 0; i < y.size(); ++i) {
    const double bound = factor * std::abs(scale[i]) + std::numeric_limits<float>::min();
    if (!(std::abs(y[i] - y64[i]) <= bound)) {
      FAIL("element " << i << " of " << y.size() << ": " << y[i] << " instead of " << y64[i] << ", allowed " << bound);
    }
  }
  SUCCEED();
}

inline void check_close(const Buffer<float>& y, const Buffer<double>& y64, double scale, double length) {
  check_close(y, y64, Buffer<double>(y.size(), scale), length);
}

// For hand-worked values.
template <class T>
void check_values(const Buffer<T>& y, const std::vector<T>& expected, double tolerance = 1e-6) {
  y.check_guards();
  REQUIRE(y.size() == static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i < y.size(); ++i) {
    INFO("element " << i);
    CHECK(std::abs(static_cast<double>(y[i]) - static_cast<double>(expected[i])) <=
          tolerance * std::max(1.0, std::abs(static_cast<double>(expected[i]))));
  }
}

// Odd sizes that every vectorised loop must get right.
inline const std::vector<int>& odd_sizes() {
  static const std::vector<int> sizes{1, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33};
  return sizes;
}

}  // namespace dnn::test
