#include "rows.h"

namespace dnn::test {
namespace {

const auto kTranspose = &Kernels<float>::transpose;
const auto kCopyRows = &Kernels<float>::copy_rows;

TransposeShape permutation(const std::vector<int>& size, const std::vector<int>& axes) {
  TransposeShape shape;
  shape.dims = static_cast<int>(size.size());
  for (int d = 0; d < shape.dims; ++d) {
    shape.size[d] = size[d];
    shape.axes[d] = axes[d];
  }
  return shape;
}

TEST_CASE("transpose: values by hand", "[transpose]") {
  const Buffer<float> x({1, 2, 3, 4, 5, 6});
  for (const Backend* row : rows_with(kTranspose)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(6);
    row->f32.transpose(context, permutation({2, 3}, {1, 0}), x.get(), y.get());
    check_values<float>(y, {1, 4, 2, 5, 3, 6});
    row->f32.transpose(context, permutation({2, 3}, {0, 1}), x.get(), y.get());
    check_values<float>(y, {1, 2, 3, 4, 5, 6});
    // (1, 3, 1, 2) to (1, 2, 3, 1), as from H, W, C to C, H, W.
    row->f32.transpose(context, permutation({1, 3, 1, 2}, {0, 3, 1, 2}), x.get(), y.get());
    check_values<float>(y, {1, 3, 5, 2, 4, 6});
    Buffer<float> one(1);
    row->f32.transpose(context, TransposeShape{}, x.get(), one.get());
    check_values<float>(one, {1});
  }
}

TEST_CASE("transpose: every row against the reference", "[transpose]") {
  std::vector<std::pair<std::vector<int>, std::vector<int>>> shapes{{{2, 7, 5, 24}, {0, 3, 1, 2}},
                                                                    {{2, 24, 7, 5}, {0, 2, 3, 1}},
                                                                    {{3, 28, 28, 3}, {0, 3, 1, 2}},
                                                                    {{3, 3, 28, 28}, {0, 2, 3, 1}},
                                                                    {{4, 6, 6, 256}, {0, 3, 1, 2}},
                                                                    {{0, 6, 6, 8}, {0, 3, 1, 2}},
                                                                    {{2, 3, 4, 5, 6, 7}, {5, 3, 1, 0, 2, 4}},
                                                                    {{5, 4, 3}, {2, 1, 0}},
                                                                    {{5, 4, 3}, {1, 0, 2}},
                                                                    {{400, 300}, {1, 0}},
                                                                    {{1, 70001}, {1, 0}},
                                                                    {{100003}, {0}}};
  for (const int size : odd_sizes()) {
    shapes.push_back({{size, 19}, {1, 0}});
    shapes.push_back({{19, size}, {1, 0}});
    shapes.push_back({{2, size, 5, 16}, {0, 3, 1, 2}});
    shapes.push_back({{2, 4, 5, size}, {0, 3, 1, 2}});
  }
  for (const auto& [size, axes] : shapes) {
    const TransposeShape shape = permutation(size, axes);
    const auto x = Buffer<float>::random(shape.count(), 1);
    Context reference(reference_row());
    Buffer<double> y64(shape.count());
    reference_row().f64.transpose(reference, shape, convert<double>(x).get(), y64.get());
    for (const Backend* row : rows_with(kTranspose)) {
      INFO(row->name << ", " << Catch::Detail::stringify(size) << " by " << Catch::Detail::stringify(axes));
      Context context(*row);
      Buffer<float> y(shape.count());
      row->f32.transpose(context, shape, x.get(), y.get());
      check_close(y, y64, 0.0, 1);
    }
  }
}

TEST_CASE("copy_rows: joins and splits", "[copy_rows]") {
  // Two pictures' pixels of 2 and of 1 channels, joined to 3 channels and split again.
  const Buffer<float> a({1, 2, 3, 4}), b({5, 6});
  for (const Backend* row : rows_with(kCopyRows)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> joined(6), back(4);
    row->f32.copy_rows(context, {2, 2}, 2, a.get(), 3, joined.get());
    row->f32.copy_rows(context, {2, 1}, 1, b.get(), 3, joined.get() + 2);
    check_values<float>(joined, {1, 2, 5, 3, 4, 6});
    row->f32.copy_rows(context, {2, 2}, 3, joined.get(), 2, back.get());
    check_values<float>(back, {1, 2, 3, 4});
  }
}

TEST_CASE("copy_rows: every row against the reference", "[copy_rows]") {
  std::vector<RowsShape> shapes{{0, 5}, {1, 50021}, {3, 20000}, {1000, 192}, {40000, 3}};
  for (const int cols : odd_sizes()) shapes.push_back({6, cols});
  for (const RowsShape& shape : shapes) {
    for (const auto& [x_gap, y_gap] : {std::pair(0, 0), std::pair(0, 5), std::pair(13, 0), std::pair(3, 8)}) {
      const int x_pitch = shape.cols + x_gap, y_pitch = shape.cols + y_gap;
      const auto x = Buffer<float>::random_rows(shape.rows, shape.cols, x_pitch, 1);
      Context reference(reference_row());
      Buffer<double> y64(shape.rows * y_pitch);
      reference_row().f64.copy_rows(reference, shape, x_pitch, convert<double>(x).get(), y_pitch, y64.get());
      for (const Backend* row : rows_with(kCopyRows)) {
        INFO(row->name << ", " << shape.rows << " x " << shape.cols << ", pitches " << x_pitch << " and " << y_pitch);
        Context context(*row);
        Buffer<float> y(shape.rows * y_pitch);
        row->f32.copy_rows(context, shape, x_pitch, x.get(), y_pitch, y.get());
        check_close(y, y64, 0.0, 1);
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
