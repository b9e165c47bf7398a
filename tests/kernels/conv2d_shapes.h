#pragma once
#include <string>
#include <vector>

#include <kernels/shapes.h>

#include "rows.h"

// The convolutions that every row must get right, for the three kernels of conv2d alike.
namespace dnn::test {

struct NamedConv2d {
  std::string name;
  Conv2dShape shape;
};

// n pictures of size x size with c channels, k filters of window x window, padded alike on the four sides.
inline Conv2dShape square_conv2d(int n, int size, int c, int k, int window, int stride = 1, int pad = 0,
                                 int groups = 1) {
  Conv2dShape shape;
  shape.n = n;
  shape.h = shape.w = size;
  shape.c = c;
  shape.k = k;
  shape.r = shape.s = window;
  shape.stride_h = shape.stride_w = stride;
  shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = pad;
  shape.groups = groups;
  return shape;
}

// Named after what is special in them.
inline std::vector<NamedConv2d> special_conv2d_shapes() {
  std::vector<NamedConv2d> shapes;
  const auto add = [&](const std::string& name, Conv2dShape shape, auto&&... changes) {
    (changes(shape), ...);
    shapes.push_back({name, shape});
  };
  add("1x1", square_conv2d(2, 9, 24, 40, 1));
  add("1x1 stride 2", square_conv2d(2, 9, 16, 24, 1, 2));
  add("1x1 padded", square_conv2d(1, 6, 8, 16, 1, 1, 1));
  add("1x1 of a 1x1 picture", square_conv2d(5, 1, 33, 17, 1));
  add("1x7", square_conv2d(2, 12, 16, 24, 1), [](Conv2dShape& x) { x.s = 7, x.pad_left = x.pad_right = 3; });
  add("7x1", square_conv2d(2, 12, 16, 24, 1), [](Conv2dShape& x) { x.r = 7, x.pad_top = x.pad_bottom = 3; });
  add("2x2", square_conv2d(1, 8, 8, 9, 2));
  add("3x2 window, stride 2x3, 7x11 picture", square_conv2d(2, 7, 5, 6, 3),
      [](Conv2dShape& x) { x.w = 11, x.s = 2, x.stride_h = 2, x.stride_w = 3, x.pad_top = x.pad_bottom = 1; });
  add("5x5", square_conv2d(1, 13, 6, 16, 5, 1, 2));
  add("7x7 stride 2", square_conv2d(1, 30, 3, 16, 7, 2, 3));
  add("stride 4", square_conv2d(1, 23, 8, 16, 3, 4, 1));
  add("stride larger than the window", square_conv2d(2, 11, 4, 8, 2, 4));
  add("cells of the input that no window sees", square_conv2d(1, 10, 3, 8, 3, 4));
  add("dilation 2", square_conv2d(2, 13, 16, 8, 3, 1, 2), [](Conv2dShape& x) { x.dilation_h = x.dilation_w = 2; });
  add("dilation 2 and stride 2", square_conv2d(1, 14, 7, 9, 3, 2, 2),
      [](Conv2dShape& x) { x.dilation_h = x.dilation_w = 2; });
  add("dilation 1x3", square_conv2d(1, 12, 8, 8, 3), [](Conv2dShape& x) { x.dilation_w = 3; });
  add("four paddings", square_conv2d(2, 8, 6, 10, 3),
      [](Conv2dShape& x) { x.pad_top = 0, x.pad_left = 1, x.pad_bottom = 2, x.pad_right = 3; });
  add("padding beyond the window", square_conv2d(1, 5, 4, 8, 3, 1, 4));
  add("padding beyond the window, stride 2", square_conv2d(1, 5, 4, 8, 2, 2, 3));
  add("the window is larger than the picture", square_conv2d(2, 3, 8, 16, 5, 1, 2));
  add("the window is the whole picture", square_conv2d(3, 5, 16, 30, 5));
  add("one column", square_conv2d(2, 9, 8, 16, 3, 1, 1), [](Conv2dShape& x) { x.w = 1; });
  add("one row", square_conv2d(2, 9, 8, 16, 3, 1, 1), [](Conv2dShape& x) { x.h = 1; });
  add("2 groups", square_conv2d(2, 9, 16, 24, 3, 1, 1, 2));
  add("2 groups of odd channels, stride 2", square_conv2d(2, 9, 6, 10, 3, 2, 1, 2));
  add("3 groups, stride 2", square_conv2d(1, 8, 27, 33, 3, 2, 1, 3));
  add("32 groups of 4", square_conv2d(1, 7, 128, 128, 3, 1, 1, 32));
  add("groups of one filter", square_conv2d(1, 7, 24, 8, 3, 1, 1, 8));
  add("1x1 in 4 groups", square_conv2d(2, 6, 32, 64, 1, 1, 0, 4));
  add("depthwise with two filters a channel", square_conv2d(2, 9, 17, 34, 3, 1, 1, 17));
  add("depthwise with two filters a channel, stride 2", square_conv2d(1, 10, 8, 16, 3, 2, 1, 8));
  add("depthwise with three filters a channel", square_conv2d(1, 6, 5, 15, 3, 1, 1, 5));
  add("depthwise 5x5", square_conv2d(1, 14, 40, 40, 5, 1, 2, 40));
  add("depthwise, dilation 2", square_conv2d(1, 14, 16, 16, 3, 1, 2, 16),
      [](Conv2dShape& x) { x.dilation_h = x.dilation_w = 2; });
  add("depthwise, four paddings", square_conv2d(1, 9, 12, 12, 3, 2, 0, 12),
      [](Conv2dShape& x) { x.pad_top = 0, x.pad_left = 1, x.pad_bottom = 2, x.pad_right = 1; });
  add("depthwise 5x5, stride 2", square_conv2d(2, 15, 20, 20, 5, 2, 2, 20));
  add("depthwise, blocks of channels", square_conv2d(1, 9, 403, 403, 5, 1, 2, 403));
  for (const int width : {1, 2, 3, 4, 5}) {
    add("depthwise, " + std::to_string(width) + " columns", square_conv2d(1, 6, 9, 9, 3, 1, 1, 9),
        [&](Conv2dShape& x) { x.w = width; });
    add("depthwise 5x5, stride 2, " + std::to_string(width) + " columns", square_conv2d(1, 6, 9, 9, 5, 2, 2, 9),
        [&](Conv2dShape& x) { x.w = width; });
  }
  add("1x1, blocks of pixels", square_conv2d(4, 14, 64, 76, 1));
  add("1x1 stride 2, blocks of rows", square_conv2d(2, 41, 24, 48, 1, 2));
  add("blocks of pictures", square_conv2d(23, 7, 24, 30, 3, 1, 1));
  add("blocks of pictures, no padding", square_conv2d(23, 9, 20, 30, 3));
  add("pitches", square_conv2d(2, 9, 16, 24, 3, 1, 1), [](Conv2dShape& x) { x.x_stride = 21, x.y_stride = 45; });
  add("pitches, 1x1", square_conv2d(2, 9, 24, 16, 1), [](Conv2dShape& x) { x.x_stride = 40, x.y_stride = 17; });
  add("pitches, 1x1 stride 2", square_conv2d(2, 9, 24, 16, 1, 2),
      [](Conv2dShape& x) { x.x_stride = 40, x.y_stride = 17; });
  add("pitches, odd channels", square_conv2d(1, 8, 3, 7, 5, 2, 2),
      [](Conv2dShape& x) { x.x_stride = 5, x.y_stride = 9; });
  add("pitches, depthwise", square_conv2d(2, 9, 16, 16, 3, 1, 1, 16),
      [](Conv2dShape& x) { x.x_stride = 19, x.y_stride = 33; });
  add("pitches, 64 channels", square_conv2d(1, 12, 64, 64, 3, 1, 1),
      [](Conv2dShape& x) { x.x_stride = 80, x.y_stride = 96; });
  add("no picture", square_conv2d(0, 9, 8, 16, 3, 1, 1));
  add("no picture, depthwise", square_conv2d(0, 9, 8, 8, 3, 1, 1, 8));
  add("no picture, 1x1", square_conv2d(0, 9, 8, 8, 1));
  add("more than 65535 pictures", square_conv2d(65541, 2, 3, 4, 2));
  return shapes;
}

// Every channel count that a vector's remainder may trip over, dense and depthwise.
inline std::vector<NamedConv2d> channel_conv2d_shapes() {
  std::vector<NamedConv2d> shapes;
  for (const int c : odd_sizes()) {
    const std::string channels = std::to_string(c) + " channels";
    shapes.push_back({channels + " in", square_conv2d(1, 9, c, 16, 3, 1, 1)});
    shapes.push_back({channels + " out", square_conv2d(1, 9, 8, c, 3, 2, 1)});
    shapes.push_back({channels + " in and out, 1x1", square_conv2d(2, 5, c, c, 1)});
    shapes.push_back({channels + " in and out, 3x3", square_conv2d(2, 8, c, c, 3, 1, 1)});
    shapes.push_back({channels + ", depthwise", square_conv2d(2, 9, c, c, 3, 1, 1, c)});
    shapes.push_back({channels + ", depthwise, stride 2", square_conv2d(1, 10, c, c, 3, 2, 1, c)});
  }
  return shapes;
}

// Output widths that tiles of pixels may trip over, and the first layers of known nets.
inline std::vector<NamedConv2d> net_conv2d_shapes() {
  std::vector<NamedConv2d> shapes;
  for (const int width : {7, 13, 14, 27, 28, 56}) {
    Conv2dShape shape = square_conv2d(1, 6, 24, 32, 3, 1, 1);
    shape.w = width;
    const std::string wide = std::to_string(width) + " wide, ";
    shapes.push_back({wide + "3x3", shape});
    shape = square_conv2d(1, 5, 40, 48, 1);
    shape.w = width;
    shapes.push_back({wide + "1x1", shape});
    shape = square_conv2d(1, 9, 16, 16, 5, 2, 2);
    shape.w = 2 * width;
    shapes.push_back({wide + "5x5 stride 2", shape});
    shape = square_conv2d(1, 6, 32, 32, 3, 1, 1, 32);
    shape.w = width;
    shapes.push_back({wide + "depthwise", shape});
  }
  shapes.push_back({"LeNet conv1", square_conv2d(3, 28, 1, 20, 5)});
  shapes.push_back({"LeNet conv2", square_conv2d(3, 12, 20, 50, 5)});
  shapes.push_back({"LeNet-5 conv1", square_conv2d(2, 28, 1, 6, 5, 1, 2)});
  shapes.push_back({"AlexNet conv1", square_conv2d(1, 227, 3, 96, 11, 4)});
  shapes.push_back({"AlexNet conv2", square_conv2d(1, 27, 96, 256, 5, 1, 2, 2)});
  shapes.push_back({"ResNet conv1", square_conv2d(1, 64, 3, 64, 7, 2, 3)});
  shapes.push_back({"ResNet 64 channels", square_conv2d(1, 28, 64, 64, 3, 1, 1)});
  shapes.push_back({"ResNet 256 channels", square_conv2d(1, 7, 256, 128, 3, 1, 1)});
  return shapes;
}

inline const std::vector<NamedConv2d>& conv2d_shapes() {
  static const std::vector<NamedConv2d> all = [] {
    std::vector<NamedConv2d> shapes = special_conv2d_shapes();
    for (const auto& more : {channel_conv2d_shapes(), net_conv2d_shapes()}) {
      shapes.insert(shapes.end(), more.begin(), more.end());
    }
    return shapes;
  }();
  return all;
}

// Small ones for gradients by central differences.
inline std::vector<NamedConv2d> small_conv2d_shapes() {
  std::vector<NamedConv2d> shapes{{"dense", square_conv2d(2, 4, 3, 2, 3, 1, 1)},
                                  {"stride 2", square_conv2d(1, 6, 2, 3, 3, 2, 1)},
                                  {"groups and stride", square_conv2d(2, 5, 4, 6, 3, 2, 1, 2)},
                                  {"depthwise with two filters a channel", square_conv2d(1, 5, 3, 6, 3, 2, 1, 3)},
                                  {"padding beyond the window", square_conv2d(1, 3, 2, 2, 2, 1, 3)}};
  Conv2dShape shape = square_conv2d(1, 6, 2, 2, 3);
  shape.w = 7;
  shape.s = 2;
  shape.stride_w = 2;
  shape.dilation_h = 2;
  shape.pad_top = 0;
  shape.pad_left = 1;
  shape.pad_bottom = 2;
  shape.pad_right = 3;
  shapes.push_back({"everything unequal", shape});
  return shapes;
}

// A weight as conv2d_forward_packed takes it.
struct PackedWeight {
  Conv2dPacking packing;
  Buffer<float> values;

  PackedWeight(Context& context, const Conv2dShape& shape, const Buffer<float>& w) : values(0) {
    packing = context.backend.f32.conv2d_packing(context, shape);
    values = Buffer<float>(packing.count);
    context.backend.f32.conv2d_pack_weight(context, shape, packing, w.get(), values.get());
    values.check_guards();
  }
};

}  // namespace dnn::test
