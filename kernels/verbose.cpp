#include <kernels/verbose.h>

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dnn {

bool detail::verbose_asked() {
  const char* asked = std::getenv("DNN_VERBOSE");
  return asked && std::strcmp(asked, "1") == 0;
}

void detail::print_call(const std::string& line) { fmt::print(stderr, "{}\n", line); }

std::string call_line(const char* op, const std::string& shape, const char* method, double ms) {
  return fmt::format("{} {} {} {:.3f} ms", op, shape, method, ms);
}

std::string describe(const GemmShape& shape) {
  const std::string batch = shape.batch != 1 ? fmt::format("{} of ", shape.batch) : "";
  return fmt::format("{}{}x{}x{}{}{}", batch, shape.m, shape.n, shape.k, shape.trans_a ? " aT" : "",
                     shape.trans_b ? " bT" : "");
}

std::string describe(const Conv2dShape& shape) {
  std::string text = fmt::format("{}x{}x{}x{} {}x{}-{}", shape.n, shape.h, shape.w, shape.c, shape.r, shape.s, shape.k);
  const auto pair = [&](const char* name, int h, int w, int usual) {
    if (h == w && h != usual) text += fmt::format(" {}{}", name, h);
    if (h != w) text += fmt::format(" {}{}x{}", name, h, w);
  };
  pair("s", shape.stride_h, shape.stride_w, 1);
  if (shape.pad_top == shape.pad_bottom && shape.pad_left == shape.pad_right) {
    pair("p", shape.pad_top, shape.pad_left, 0);
  } else {
    text += fmt::format(" p{},{},{},{}", shape.pad_top, shape.pad_left, shape.pad_bottom, shape.pad_right);
  }
  pair("d", shape.dilation_h, shape.dilation_w, 1);
  if (shape.groups > 1) text += fmt::format(" g{}", shape.groups);
  return text;
}

}  // namespace dnn
