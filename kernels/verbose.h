#pragma once
#include <chrono>
#include <string>

#include <kernels/shapes.h>

namespace dnn {

namespace detail {
bool verbose_asked();
void print_call(const std::string& line);
}  // namespace detail

// Whether DNN_VERBOSE=1 was set when the program first asked: each routed call then prints a line on stderr.
inline bool verbose() {
  static const bool on = detail::verbose_asked();
  return on;
}

std::string describe(const GemmShape& shape);    // "64x500x800 bT", m x n x k; "12 of 64x64x32"
std::string describe(const Conv2dShape& shape);  // "8x56x56x64 3x3-128 s2 p1"

// "gemm 64x500x800 bT gemm_packed 0.412 ms"
std::string call_line(const char* op, const std::string& shape, const char* method, double ms);

// Stands at the head of a method's run and reports it on leaving, where verbose():
//   const VerboseCall report("conv2d_forward", shape, "conv2d_direct");
template <class Shape>
class VerboseCall {
 public:
  VerboseCall(const char* op, const Shape& shape, const char* method) {
    if (!verbose()) return;
    op_ = op;
    shape_ = &shape;
    method_ = method;
    begin_ = Clock::now();
  }
  ~VerboseCall() {
    if (!op_) return;
    const std::chrono::duration<double, std::milli> ms = Clock::now() - begin_;
    detail::print_call(call_line(op_, describe(*shape_), method_, ms.count()));
  }
  VerboseCall(const VerboseCall&) = delete;
  VerboseCall& operator=(const VerboseCall&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  const char* op_ = nullptr;
  const Shape* shape_ = nullptr;
  const char* method_ = nullptr;
  Clock::time_point begin_{};
};

}  // namespace dnn
