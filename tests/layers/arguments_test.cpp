#include <catch2/catch.hpp>
#include <cmath>

#include <kernels/context.h>
#include <libdnn/layers/layers.h>
#include <libdnn/ops/ops.h>

#include "layers_test.h"

// What makes no sense is refused where a layer is made, not at its first input.
namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("arguments: convolutions", "[layers]") {
  CHECK_THROWS_WITH(Conv2d(3, 4, 0), "[conv2d] kernel_size must be at least 1; got 0x0");
  CHECK_THROWS_WITH(Conv2d(3, 4, {2, -1}), Contains("kernel_size") && Contains("2x-1"));
  CHECK_THROWS_WITH(Conv2d(3, -4, 1), Contains("[conv2d] channels"));
  const Conv2d::Options good{.in_channels = 4, .out_channels = 4};
  const auto check = [&](auto&& change, const std::string& message) {
    Conv2d::Options bad = good;
    change(bad);
    CHECK_THROWS_WITH(Conv2d(bad), Contains(message));
  };
  check([](auto& o) { o.stride = 0; }, "[conv2d] stride must be at least 1; got 0x0");
  check([](auto& o) { o.stride = {1, -2}; }, "stride must be at least 1; got 1x-2");
  check([](auto& o) { o.dilation = {0, 1}; }, "dilation must be at least 1; got 0x1");
  check([](auto& o) { o.padding = -1; }, "[conv2d] padding must not be negative; got top -1");
  check([](auto& o) { o.padding = {0, 0, 0, -3}; }, "right -3");
  check([](auto& o) { o.groups = 0; }, "0 groups");
  check([](auto& o) { o.groups = 3; }, "3 groups");
  CHECK_NOTHROW(Conv2d(good));

  const ConvTranspose2d::Options transposed{.in_channels = 4, .out_channels = 4};
  const auto check_transposed = [&](auto&& change, const std::string& message) {
    ConvTranspose2d::Options bad = transposed;
    change(bad);
    CHECK_THROWS_WITH(ConvTranspose2d(bad), Contains(message));
  };
  check_transposed([](auto& o) { o.kernel_size = 0; }, "[conv_transpose2d] kernel_size");
  check_transposed([](auto& o) { o.stride = 0; }, "[conv_transpose2d] stride");
  check_transposed([](auto& o) { o.dilation = 0; }, "[conv_transpose2d] dilation");
  check_transposed([](auto& o) { o.padding = -1; }, "[conv_transpose2d] padding");
  check_transposed([](auto& o) { o.output_padding = 1; }, "[conv_transpose2d] output_padding");
  check_transposed([](auto& o) { o.output_padding = -1; }, "output_padding");
  check_transposed([](auto& o) { o.groups = 3; }, "3 groups");
  check_transposed([](auto& o) { o.activation = Activation::elu(); },
                   "[conv_transpose2d] an activation with parameters");
  CHECK_NOTHROW(ConvTranspose2d({.in_channels = 4, .out_channels = 4, .output_padding = 1, .dilation = 2}));

  CHECK_THROWS_WITH(SharedConv2d({.kernel_size = 0}), Contains("[shared_conv2d] kernel_size"));
  CHECK_THROWS_WITH(SharedConv2d({.stride = 0}), Contains("[shared_conv2d] stride"));
  CHECK_THROWS_WITH(SharedConv2d({.padding = -1}), Contains("[shared_conv2d] padding"));
  CHECK_THROWS_WITH(SharedConv2d({.dilation = 0}), Contains("[shared_conv2d] dilation"));
}

TEST_CASE("arguments: pooling and sizes", "[layers]") {
  CHECK_THROWS_WITH(MaxPool2d(0), "[max_pool2d] kernel_size must be at least 1; got 0x0");
  CHECK_THROWS_WITH(MaxPool2d(2, 0), "[max_pool2d] stride must be at least 1; got 0x0");
  CHECK_THROWS_WITH(MaxPool2d(2, -1), Contains("stride"));
  CHECK_THROWS_WITH(MaxPool2d({.kernel_size = 3, .padding = -1}), Contains("[max_pool2d] padding"));
  CHECK_THROWS_WITH(MaxPool2d({.kernel_size = 3, .padding = 3}), Contains("[max_pool2d] padding must be smaller"));
  CHECK_THROWS_WITH(MaxPool2d({.kernel_size = 3, .dilation = 0}), Contains("[max_pool2d] dilation"));
  CHECK_NOTHROW(MaxPool2d({.kernel_size = 3, .padding = 3, .dilation = 2}));
  CHECK_THROWS_WITH(AvgPool2d(0), Contains("[avg_pool2d] kernel_size"));
  CHECK_THROWS_WITH(AvgPool2d(2, 0), Contains("[avg_pool2d] stride"));
  CHECK_THROWS_WITH(AvgPool2d({.kernel_size = 2, .padding = 2}), Contains("[avg_pool2d] padding must be smaller"));
  CHECK_THROWS_WITH(AdaptiveAvgPool2d(0), "[adaptive_avg_pool2d] output_size must be at least 1; got 0x0");
  CHECK_THROWS_WITH(AdaptiveAvgPool2d({1, -1}), Contains("1x-1"));
}

TEST_CASE("arguments: dense layers, norms and the rest", "[layers]") {
  const double nan = std::nan("");
  CHECK_THROWS_WITH(Linear(0, 3), Contains("[linear]") && Contains("0 in"));
  CHECK_THROWS_WITH(Linear(3, -1), Contains("[linear]") && Contains("-1 out"));
  CHECK_THROWS_WITH(BatchNorm2d(0), Contains("[batch_norm]"));
  CHECK_THROWS_WITH(BatchNorm2d({.num_features = 2, .eps = -1}), "[batch_norm] eps is a number from 0 on; got -1");
  CHECK_THROWS_WITH(BatchNorm2d({.num_features = 2, .eps = nan}), Contains("eps"));
  CHECK_THROWS_WITH(BatchNorm2d({.num_features = 2, .momentum = 1.5}), Contains("momentum is from 0 to 1; got 1.5"));
  CHECK_THROWS_WITH(BatchNorm2d({.num_features = 2, .momentum = nan}), Contains("momentum"));
  CHECK_THROWS_WITH(BatchNorm2d({.num_features = 2, .activation = Activation::elu()}), Contains("[batch_norm]"));
  CHECK_THROWS_WITH(LocalResponseNorm(0), Contains("[local_response_norm] size"));
  CHECK_THROWS_WITH(LocalResponseNorm(5, nan), "[local_response_norm] alpha must be finite; got nan");
  CHECK_THROWS_WITH(LocalResponseNorm({.beta = nan}), Contains("beta"));
  CHECK_THROWS_WITH(LocalResponseNorm({.k = nan}), Contains("k must be finite"));
  CHECK_THROWS_WITH(Dropout(nan), Contains("[dropout]"));
  CHECK_THROWS_WITH(PReLU({.init = nan}), Contains("[prelu] init must be finite"));
  CHECK_THROWS_WITH(PReLU(-1), Contains("[prelu]"));
  CHECK_THROWS_WITH(Power({.power = nan}), "[power] power must be finite; got nan");
  CHECK_THROWS_WITH(LeakyReLU(nan), Contains("[leaky_relu] negative_slope"));
  CHECK_THROWS_WITH(ELU(nan), Contains("[elu] alpha"));
  CHECK_THROWS_WITH(Softplus(0), Contains("[softplus] beta"));
  CHECK_NOTHROW(LeakyReLU(-0.5));
}

TEST_CASE("arguments: pictures in another library's order are recognized", "[layers]") {
  const test::DefaultDevice on("reference");
  const Tensor pictures = zeros({2, 3, 6, 5});
  const std::string hint = "; x looks like (N, C, H, W), which nchw_to_nhwc brings to (N, H, W, C)";
  Conv2d conv(3, 4, 5);
  CHECK_THROWS_WITH(conv(pictures), Contains("for x (2, 3, 6, 5) in 1 group" + hint));
  CHECK(conv(nchw_to_nhwc(pictures)).shape() == Shape{2, 2, 1, 4});
  CHECK_THROWS_WITH(conv(zeros({2, 6, 5, 4})), !Contains("looks like"));
  BatchNorm2d norm(3);
  CHECK_THROWS_WITH(norm(pictures), Contains("x must be (N, H, W, 3); got (2, 3, 6, 5)" + hint));
  CHECK_THROWS_WITH(batch_norm(pictures, zeros({3}), ones({3}), Tensor(), Tensor(), {.training = false}),
                    Contains(hint));
  CHECK_THROWS_WITH(ConvTranspose2d({.in_channels = 3, .out_channels = 2})(pictures), Contains(hint));
}

TEST_CASE("arguments: float64 on a device that computes float32", "[layers]") {
  const Tensor x({1, 4, 4, 1}, DType::float64, "cpu"), w({1, 3, 3, 1}, DType::float64, "cpu");
  CHECK_THROWS_WITH(conv2d(x, w, Tensor()), "[conv2d] no float64 kernel on cpu; the device reference has them");
  CHECK_THROWS_WITH(x + x, "[add] no float64 kernel on cpu; the device reference has them");
}

TEST_CASE("arguments: threads", "[layers]") {
  const int before = num_threads();
  for (const int bad : {100000, kMostThreads + 1, 0, -1}) {
    CHECK_THROWS_WITH(set_num_threads(bad), "[set_num_threads] takes 1 to 1024 threads; got " + std::to_string(bad));
  }
  CHECK(num_threads() == before);
}

}  // namespace
}  // namespace dnn
