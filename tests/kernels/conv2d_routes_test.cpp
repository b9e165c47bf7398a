#include <kernels/cpu/conv2d_methods.h>

#include <cstdlib>

#include "conv2d_shapes.h"

// Which method of the CPU rows a convolution takes, on shapes away from where two methods meet.
namespace dnn::test {
namespace {

constexpr const char *kDirect = "conv2d_direct", *kWinograd = "conv2d_winograd", *kDepthwise = "conv2d_depthwise";

bool winograd_left_out() {
  const char* asked = std::getenv("DNN_CONV");
  return asked && std::string(asked) == "direct";
}

TEST_CASE("conv2d: which method takes a shape", "[conv2d]") {
  struct Case {
    NamedConv2d named;
    const char *forward, *packed, *backward_input, *backward_weight;
  };
  Conv2dShape dilated = square_conv2d(4, 61, 48, 48, 3, 1, 2);
  dilated.dilation_h = dilated.dilation_w = 2;
  const std::vector<Case> cases{
      {{"many tiles", square_conv2d(4, 61, 48, 56, 3, 1, 1)}, kWinograd, kWinograd, kWinograd, "taps"},
      {{"in groups", square_conv2d(4, 61, 96, 96, 3, 1, 1, 2)}, kWinograd, kWinograd, kWinograd, "taps"},
      {{"tiles that pay for packed weights", square_conv2d(1, 27, 48, 48, 3, 1, 1)},
       kDirect,
       kWinograd,
       kDirect,
       "taps"},
      {{"a few tiles", square_conv2d(1, 9, 48, 48, 3, 1, 1)}, kDirect, kDirect, kDirect, "taps"},
      {{"few channels", square_conv2d(4, 61, 12, 48, 3, 1, 1)}, kDirect, kDirect, kDirect, nullptr},
      {{"few filters", square_conv2d(4, 61, 48, 12, 3, 1, 1)}, kDirect, kDirect, kDirect, nullptr},
      {{"stride 2", square_conv2d(4, 61, 48, 48, 3, 2, 1)}, kDirect, kDirect, kDirect, "taps"},
      {{"5x5", square_conv2d(4, 61, 48, 48, 5, 1, 2)}, kDirect, kDirect, kDirect, "taps"},
      {{"dilated", dilated}, kDirect, kDirect, kDirect, "taps"},
      {{"1x1", square_conv2d(4, 31, 48, 48, 1)}, kDirect, kDirect, kDirect, "pixels"},
      {{"first layer", square_conv2d(4, 61, 3, 48, 7, 2, 3)}, kDirect, kDirect, kDirect, "patches"},
      {{"depthwise", square_conv2d(4, 61, 48, 48, 3, 1, 1, 48)}, kDepthwise, kDepthwise, kDepthwise, kDepthwise},
      {{"two filters a channel", square_conv2d(4, 31, 48, 96, 3, 1, 1, 48)}, kDirect, kDirect, kDirect, nullptr}};
  for (const Case& c : cases) {
    const Conv2dShape& shape = c.named.shape;
    INFO(c.named.name);
    const auto expected = [](const char* method) {
      return std::string(method == kWinograd && winograd_left_out() ? kDirect : method);
    };
    CHECK(cpu::conv2d_forward_route(shape, false) == expected(c.forward));
    CHECK(cpu::conv2d_forward_route(shape, true) == expected(c.packed));
    CHECK(cpu::conv2d_backward_input_route(shape) == expected(c.backward_input));
    for (const Backend* row : rows_with(&Kernels<float>::conv2d_backward_weight)) {
      if (!c.backward_weight || row->name == "reference" || row->name == "cpu_baseline") continue;
      Context context(*row);
      INFO(row->name);
      CHECK(std::string(cpu::conv2d_backward_weight_route(context, shape)) == c.backward_weight);
    }
  }
}

TEST_CASE("shared_conv2d: which method takes a shape", "[shared_conv2d]") {
  const auto route = [](const Conv2dShape& shape) { return std::string(cpu::shared_conv2d_route(shape)); };
  CHECK(route(square_conv2d(2, 24, 6, 6, 4, 4, 0, 6)) == "windows_apart");
  CHECK(route(square_conv2d(2, 24, 6, 6, 2, 5, 1, 6)) == "windows_apart");
  CHECK(route(square_conv2d(2, 24, 6, 6, 5, 2, 1, 6)) == "runs");
  Conv2dShape pitched = square_conv2d(2, 24, 6, 6, 4, 4, 0, 6);
  pitched.x_stride = 9;
  CHECK(route(pitched) == "runs");
}

}  // namespace
}  // namespace dnn::test
