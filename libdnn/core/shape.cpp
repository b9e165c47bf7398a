#include <libdnn/core/shape.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include <kernels/error.h>

namespace dnn {

Shape::Shape(const int* sizes, int dims) : dims_(dims) {
  if (dims > kMaxDims) throw Error(fmt::format("[shape] at most {} dimensions; got {}", kMaxDims, dims));
  std::copy(sizes, sizes + dims, sizes_.begin());
  bool overflow = false;
  for (const int size : *this) {
    if (size < 0) throw Error(fmt::format("[shape] sizes must not be negative; got {}", str()));
    overflow = overflow || __builtin_mul_overflow(numel_, int64_t{size}, &numel_);
  }
  // Room for 8 bytes an element: a count of bytes never overflows either.
  if (overflow || numel_ > INT64_MAX / 16) throw Error(fmt::format("[shape] too many elements; got {}", str()));
}

std::string Shape::str() const { return fmt::format("({})", fmt::join(begin(), end(), ", ")); }

void Shape::throw_no_dim(int dim, const char* op) const {
  throw Error(fmt::format("[{}] there is no dimension {}; got the shape {}", op, dim, str()));
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.str(); }

}  // namespace dnn
