#pragma once
#include "rows.h"

// What only the rows of the CPU do: results so large that they are stored past the caches, and chunks for threads.
namespace dnn::test {

// Memory of a row, aligned as its tensors are; the results are only streamed there.
class Aligned {
 public:
  Aligned(const Backend& row, int64_t count) : row_(row), count_(count) {
    data_ = static_cast<float*>(row.device.alloc(0, static_cast<size_t>(count) * sizeof(float), nullptr));
  }
  ~Aligned() { row_.device.free(0, data_, static_cast<size_t>(count_) * sizeof(float)); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  float* get() const { return data_; }

  // The first place where f(i) is not the value there, else -1.
  template <class F>
  int64_t first_other_than(F&& f) const {
    for (int64_t i = 0; i < count_; ++i) {
      if (data_[i] != f(i)) return i;
    }
    return -1;
  }

 private:
  const Backend& row_;
  int64_t count_;
  float* data_;
};

inline std::vector<const Backend*> cpu_rows() {
  std::vector<const Backend*> found;
  for (const Backend* row : host_rows()) {
    if (row->name != "reference") found.push_back(row);
  }
  return found;
}

inline float value_at(int64_t i) { return static_cast<float>(i % 1021 - 510); }

// f(context, y) fills `count` values; with any number of threads the same bits.
template <class F>
void check_same_bits(const Backend& row, int64_t count, F&& f) {
  std::vector<float> of_one_thread;
  for (const int threads : {1, 2, 3}) {
    INFO(row.name << ", " << threads << " threads");
    Context context(row);
    context.threads = threads;
    Buffer<float> y(count, 0);
    f(context, y.get());
    y.check_guards();
    if (threads == 1) of_one_thread = y.values();
    REQUIRE((y.values() == of_one_thread));
  }
}

}  // namespace dnn::test
