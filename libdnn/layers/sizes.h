#pragma once
#include <array>

namespace dnn {

// How layers take sizes: one number for both directions, or height and width.
struct Size2 {
  Size2(int both) : h(both), w(both) {}
  Size2(int height, int width) : h(height), w(width) {}
  operator std::array<int, 2>() const { return {h, w}; }

  int h, w;
};

// One factor for both directions, or for height and width.
struct Scale2 {
  Scale2(double both) : h(both), w(both) {}
  Scale2(double height, double width) : h(height), w(width) {}
  operator std::array<double, 2>() const { return {h, w}; }

  double h, w;
};

// One number for all sides, height and width, or top, left, bottom, right.
struct Padding2 {
  Padding2(int all) : Padding2(all, all) {}
  Padding2(int height, int width) : Padding2(height, width, height, width) {}
  Padding2(int t, int l, int b, int r) : top(t), left(l), bottom(b), right(r) {}
  operator std::array<int, 4>() const { return {top, left, bottom, right}; }

  int top, left, bottom, right;
};

}  // namespace dnn
