#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

#include <kernels/shapes.h>

namespace dnn {

// The sizes of a tensor, the slowest dimension first, at most kMaxDims of them; none for a scalar. A negative size and
// a count of elements beyond int64 throw Error.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int> sizes) : Shape(sizes.begin(), static_cast<int>(sizes.size())) {}
  explicit Shape(const std::vector<int>& sizes) : Shape(sizes.data(), static_cast<int>(sizes.size())) {}
  Shape(const int* sizes, int dims);

  int dims() const { return dims_; }
  int64_t numel() const { return numel_; }
  int operator[](int dim) const { return sizes_[normalize(dim)]; }  // a negative dim counts from the last
  const int* begin() const { return sizes_.data(); }
  const int* end() const { return sizes_.data() + dims_; }

  // The dimension as 0 <= dim < dims(); throws Error where there is none such.
  int normalize(int dim, const char* op = "shape") const {
    const int positive = dim < 0 ? dim + dims_ : dim;
    if (positive < 0 || positive >= dims_) throw_no_dim(dim, op);
    return positive;
  }

  std::string str() const;  // "(64, 28, 28, 1)"

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_ && a.sizes_ == b.sizes_; }

 private:
  [[noreturn]] void throw_no_dim(int dim, const char* op) const;

  std::array<int, kMaxDims> sizes_{};
  int dims_ = 0;
  int64_t numel_ = 1;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);  // as str()

}  // namespace dnn
