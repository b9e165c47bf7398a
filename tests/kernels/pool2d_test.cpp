#include "gradients.h"

namespace dnn::test {
namespace {

const auto kMaxForward = &Kernels<float>::max_pool2d_forward;
const auto kMaxBackward = &Kernels<float>::max_pool2d_backward;
const auto kAvgForward = &Kernels<float>::avg_pool2d_forward;
const auto kAvgBackward = &Kernels<float>::avg_pool2d_backward;

struct NamedPool2d {
  std::string name;
  Pool2dShape shape;
};

Pool2dShape square_pool2d(int n, int size, int c, int window, int stride, int pad = 0, bool ceil_mode = false,
                          bool count_include_pad = true) {
  Pool2dShape shape;
  shape.n = n;
  shape.h = shape.w = size;
  shape.c = c;
  shape.r = shape.s = window;
  shape.stride_h = shape.stride_w = stride;
  shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = pad;
  shape.ceil_mode = ceil_mode;
  shape.count_include_pad = count_include_pad;
  return shape;
}

std::vector<NamedPool2d> shapes() {
  std::vector<NamedPool2d> found;
  for (const int c : odd_sizes()) {
    const std::string channels = std::to_string(c) + " channels, ";
    found.push_back({channels + "3x3 stride 2", square_pool2d(2, 9, c, 3, 2, 1)});
    found.push_back({channels + "2x2 stride 2", square_pool2d(1, 8, c, 2, 2)});
    found.push_back({channels + "3x3 stride 1", square_pool2d(1, 7, c, 3, 1, 1, false, false)});
    found.push_back({channels + "global", square_pool2d(2, 7, c, 7, 1)});
  }
  for (const bool include : {true, false}) {
    found.push_back({"ceil, 3x3 stride 2", square_pool2d(2, 8, 10, 3, 2, 0, true, include)});
    found.push_back({"ceil, 3x3 stride 2, padded", square_pool2d(2, 8, 10, 3, 2, 1, true, include)});
    found.push_back({"ceil, last window dropped", square_pool2d(1, 6, 5, 1, 2, 0, true, include)});
    found.push_back({"ceil, last window dropped, padded", square_pool2d(1, 5, 5, 2, 3, 1, true, include)});
    found.push_back({"ceil, 3x3 on 2x2", square_pool2d(2, 2, 10, 3, 2, 0, true, include)});
    found.push_back({"ceil, 2x2 on one pixel", square_pool2d(1, 1, 5, 2, 2, 0, true, include)});
    found.push_back({"ceil, 7x7 on 4x4, overlapping nothing", square_pool2d(1, 4, 5, 7, 8, 0, true, include)});
    found.push_back({"ceil, 6x6 on 2x2, padded", square_pool2d(1, 2, 20, 6, 3, 1, true, include)});
    found.push_back({"5x5 stride 3", square_pool2d(1, 17, 20, 5, 3, 2, false, include)});
    found.push_back({"no picture", square_pool2d(0, 8, 5, 3, 2, 1, false, include)});
    NamedPool2d unequal{"everything unequal", square_pool2d(2, 11, 12, 3, 2, 0, true, include)};
    unequal.shape.w = 14;
    unequal.shape.s = 4;
    unequal.shape.stride_w = 3;
    unequal.shape.pad_top = 1;
    unequal.shape.pad_left = 3;
    unequal.shape.pad_bottom = 2;
    found.push_back(unequal);
    unequal.name = "pitches";
    unequal.shape.x_stride = 19;
    unequal.shape.y_stride = 30;
    found.push_back(unequal);
  }
  found.push_back({"LeNet", square_pool2d(3, 24, 20, 2, 2)});
  found.push_back({"AlexNet", square_pool2d(1, 55, 96, 3, 2)});
  found.push_back({"GoogLeNet", square_pool2d(1, 28, 192, 3, 2, 0, true)});
  found.push_back({"window of more than 256 cells", square_pool2d(1, 40, 9, 17, 9, 3)});
  found.push_back({"one column", square_pool2d(2, 9, 8, 1, 1)});
  found.back().shape.w = 1;
  found.back().shape.r = 3;
  return found;
}

Buffer<float> random_x(const Pool2dShape& s) { return Buffer<float>::random_rows(s.x_pixels(), s.c, s.x_pitch(), 1); }
Buffer<float> random_y(const Pool2dShape& s) { return Buffer<float>::random_rows(s.y_pixels(), s.c, s.y_pitch(), 2); }

Buffer<float> one_to(int last) {
  Buffer<float> x(last);
  for (int i = 0; i < last; ++i) x[i] = static_cast<float>(i + 1);
  return x;
}

// The index of a max pool in either of its types, as numbers.
struct Index {
  explicit Index(const Pool2dShape& shape)
      : bytes(shape.byte_index()),
        small(bytes ? shape.y_pixels() * shape.c : 0),
        large(bytes ? 0 : shape.y_pixels() * shape.c) {}
  void* get() { return bytes ? static_cast<void*>(small.get()) : large.get(); }
  std::vector<int> values() const {
    small.check_guards();
    large.check_guards();
    const std::vector<uint8_t> s = small.values();
    if (bytes) return {s.begin(), s.end()};
    const std::vector<int32_t> l = large.values();
    return {l.begin(), l.end()};
  }

  bool bytes;
  Buffer<uint8_t> small;
  Buffer<int32_t> large;
};

// The same values, minus infinity where a window has no cell; gaps of pitched rows hold NaN in both.
void check_largest(const Buffer<float>& y, const Buffer<double>& y64) {
  y.check_guards();
  for (int64_t i = 0; i < y.size(); ++i) {
    if (y[i] != static_cast<float>(y64[i])) FAIL("element " << i << ": " << y[i] << " instead of " << y64[i]);
  }
  SUCCEED();
}

TEST_CASE("max_pool2d: values by hand", "[pool2d]") {
  for (const Backend* row : rows_with(kMaxForward)) {
    INFO(row->name);
    Context context(*row);
    const Buffer<float> x = one_to(16);
    Buffer<float> y(4);
    Pool2dShape shape = square_pool2d(1, 4, 1, 3, 2, 0, true);
    Index index(shape);
    row->f32.max_pool2d_forward(context, shape, x.get(), y.get(), index.get());
    check_values<float>(y, {11, 12, 15, 16});
    CHECK(index.values() == std::vector<int>{8, 7, 5, 4});
    // Padding is minus infinity, not 0.
    const Buffer<float> negative({-1, -2, -3, -3, -4, -5, -2, -3, -6});
    row->f32.max_pool2d_forward(context, square_pool2d(1, 3, 1, 3, 2, 1), negative.get(), y.get(), index.get());
    check_values<float>(y, {-1, -2, -2, -3});
    CHECK(index.values() == std::vector<int>{4, 3, 4, 3});
    // A last window that would begin beyond the picture is dropped.
    Buffer<float> nine(9);
    row->f32.max_pool2d_forward(context, square_pool2d(1, 6, 1, 1, 2, 0, true), one_to(36).get(), nine.get(), nullptr);
    check_values<float>(nine, {1, 3, 5, 13, 15, 17, 25, 27, 29});
  }
}

TEST_CASE("max_pool2d: equal cells, infinities and NaN", "[pool2d]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const Backend* row : rows_with(kMaxForward)) {
    for (const int c : {1, 8, 19}) {
      INFO(row->name << ", " << c << " channels");
      Context context(*row);
      Pool2dShape shape = square_pool2d(1, 2, c, 2, 1);
      const auto pooled = [&](const std::vector<float>& cells) {
        Buffer<float> x(4 * c), y(c);
        Index index(shape);
        for (int i = 0; i < 4 * c; ++i) x[i] = cells[i / c];
        row->f32.max_pool2d_forward(context, shape, x.get(), y.get(), index.get());
        y.check_guards();
        for (int i = 1; i < c; ++i) CHECK(index.values()[i] == index.values()[0]);
        return std::pair(y[c - 1], index.values()[0]);
      };
      CHECK(pooled({3, 5, 5, 5}) == std::pair(5.0f, 1));
      CHECK(pooled({-inf, -inf, -inf, -inf}) == std::pair(-inf, 0));
      CHECK(pooled({-inf, -inf, -9, -inf}) == std::pair(-9.0f, 2));
      CHECK(pooled({1, inf, 2, inf}) == std::pair(inf, 1));
      for (const auto& [cells, at] :
           {std::pair(std::vector<float>{nan, 1, 2, 3}, 0), std::pair(std::vector<float>{1, 2, nan, inf}, 2),
            std::pair(std::vector<float>{1, 2, 3, nan}, 3)}) {
        const auto [value, index] = pooled(cells);
        CHECK(std::isnan(value));
        CHECK(index == at);
      }
    }
  }
}

// Of maximum pooling alone: windows whose cells are apart.
std::vector<NamedPool2d> dilated_shapes() {
  std::vector<NamedPool2d> found;
  const auto add = [&](const std::string& name, Pool2dShape shape, int dilation_h, int dilation_w) {
    shape.dilation_h = dilation_h, shape.dilation_w = dilation_w;
    found.push_back({"dilated, " + name, shape});
  };
  for (const int c : odd_sizes()) {
    add(std::to_string(c) + " channels, 2x2", square_pool2d(2, 9, c, 2, 2, 1), 2, 2);
    add(std::to_string(c) + " channels, 3x3", square_pool2d(1, 11, c, 3, 1, 1), 2, 3);
  }
  add("nothing overlaps", square_pool2d(2, 14, 5, 2, 7), 3, 5);
  add("ceil", square_pool2d(2, 12, 9, 3, 2, 1, true), 2, 2);
  add("one direction", square_pool2d(1, 9, 9, 3, 2, 1), 1, 2);
  add("windows without a cell in the picture", square_pool2d(2, 2, 9, 2, 1, 1), 3, 3);
  add("ceil, a window larger than the picture", square_pool2d(1, 4, 3, 3, 2, 0, true), 2, 2);
  add("more than 256 cells", square_pool2d(1, 40, 9, 17, 5, 3), 2, 2);
  NamedPool2d pitched{"dilated, pitches", square_pool2d(2, 11, 12, 3, 2, 1, true)};
  pitched.shape.dilation_h = 2, pitched.shape.pad_left = 3, pitched.shape.dilation_w = 3;
  pitched.shape.x_stride = 19, pitched.shape.y_stride = 30;
  found.push_back(pitched);
  return found;
}

TEST_CASE("max_pool2d: a dilation by hand", "[pool2d]") {
  // As torch.nn.functional.max_pool2d(x, 2, 1, 0, 2) and, where padded, (x, 2, 2, 1, 3).
  for (const Backend* row : rows_with(kMaxForward)) {
    INFO(row->name);
    Context context(*row);
    const Buffer<float> x({1, 2, 3, 16, 5, 6, 7, 8, 9, 10, 15, 12, 13, 14, 11, 4}), dy({1, 2, 3, 4});
    Buffer<float> y(4), dx(16);
    Pool2dShape shape = square_pool2d(1, 4, 1, 2, 1);
    shape.dilation_h = shape.dilation_w = 2;
    Index index(shape);
    CHECK((shape.oh() == 2 && shape.ow() == 2));
    row->f32.max_pool2d_forward(context, shape, x.get(), y.get(), index.get());
    check_values<float>(y, {15, 16, 13, 14});
    CHECK(index.values() == std::vector<int>{3, 1, 2, 2});
    row->f32.max_pool2d_backward(context, shape, dy.get(), index.get(), dx.get());
    check_values<float>(dx, {0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 0, 3, 4, 0, 0});

    // Rows and columns -1 and 2, and 1 and 4 of 4.
    shape.stride_h = shape.stride_w = 2, shape.dilation_h = shape.dilation_w = 3;
    shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = 1;
    CHECK((shape.oh() == 2 && shape.ow() == 2));
    row->f32.max_pool2d_forward(context, shape, x.get(), y.get(), index.get());
    check_values<float>(y, {15, 10, 7, 6});
    CHECK(index.values() == std::vector<int>{3, 2, 1, 0});

    // Cells -1 and 2 of 2: none in the picture.
    const float inf = std::numeric_limits<float>::infinity();
    const Buffer<float> four({1, 2, 3, 4});
    Buffer<float> one(1), none(4);
    shape = square_pool2d(1, 2, 1, 2, 1, 1);
    shape.dilation_h = shape.dilation_w = 3;
    Index empty(shape);
    row->f32.max_pool2d_forward(context, shape, four.get(), one.get(), empty.get());
    CHECK(one[0] == -inf);
    CHECK(empty.values() == std::vector<int>{0});
    row->f32.max_pool2d_backward(context, shape, dy.get(), empty.get(), none.get());
    check_values<float>(none, {0, 0, 0, 0});
  }
}

TEST_CASE("max_pool2d: every row against the reference", "[pool2d]") {
  std::vector<NamedPool2d> all = shapes();
  for (const NamedPool2d& dilated : dilated_shapes()) all.push_back(dilated);
  for (const NamedPool2d& named : all) {
    const Pool2dShape& shape = named.shape;
    Buffer<float> x = random_x(shape);
    for (int64_t i = 0; i < x.size(); ++i) x[i] = std::round(x[i] * 16) / 16;  // so that there are equal cells
    const Buffer<float> dy = random_y(shape);
    Context reference(reference_row());
    const Kernels<double>& kernels = reference_row().f64;
    Buffer<double> y64(dy.size()), dx64(x.size()), scale(x.size());
    Index index64(shape);
    kernels.max_pool2d_forward(reference, shape, convert<double>(x).get(), y64.get(), index64.get());
    kernels.max_pool2d_backward(reference, shape, convert<double>(dy).get(), index64.get(), dx64.get());
    kernels.max_pool2d_backward(reference, shape, absolute(convert<double>(dy)).get(), index64.get(), scale.get());
    for (const Backend* row : rows_with(kMaxForward)) {
      INFO(row->name << ", " << named.name);
      Context context(*row);
      Buffer<float> y(dy.size()), y_alone(dy.size());
      Index index(shape);
      row->f32.max_pool2d_forward(context, shape, x.get(), y.get(), index.get());
      check_largest(y, y64);
      REQUIRE((index.values() == index64.values()));
      row->f32.max_pool2d_forward(context, shape, x.get(), y_alone.get(), nullptr);
      check_largest(y_alone, y64);
    }
    for (const Backend* row : rows_with(kMaxBackward)) {
      INFO(row->name << ", " << named.name);
      Context context(*row);
      Buffer<float> dx(x.size());
      row->f32.max_pool2d_backward(context, shape, dy.get(), index64.get(), dx.get());
      check_close(dx, dx64, scale, shape.r * shape.s);
    }
  }
}

TEST_CASE("avg_pool2d: values by hand", "[pool2d]") {
  for (const Backend* row : rows_with(kAvgForward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> four(4), nine(9), sixteen(16);
    const Buffer<float> x = one_to(16), ones(16, 1.0f);
    // What hangs over the picture never counts, whatever is said about padding.
    for (const bool include : {true, false}) {
      row->f32.avg_pool2d_forward(context, square_pool2d(1, 4, 1, 3, 2, 0, true, include), x.get(), four.get());
      check_values<float>(four, {6, 7.5f, 12, 13.5f});
    }
    row->f32.avg_pool2d_forward(context, square_pool2d(1, 4, 1, 3, 2, 1, true, false), x.get(), nine.get());
    check_values<float>(nine, {3.5f, 5, 6, 9.5f, 11, 12, 13.5f, 15, 16});
    row->f32.avg_pool2d_forward(context, square_pool2d(1, 4, 1, 3, 1, 1), ones.get(), sixteen.get());
    const float corner = 4.0f / 9, edge = 6.0f / 9;
    check_values<float>(sixteen,
                        {corner, edge, edge, corner, edge, 1, 1, edge, edge, 1, 1, edge, corner, edge, edge, corner});
    row->f32.avg_pool2d_forward(context, square_pool2d(1, 4, 1, 3, 1, 1, false, false), ones.get(), sixteen.get());
    check_values<float>(sixteen, std::vector<float>(16, 1.0f));
    // The last window's cells in the padded picture: 2 of 3 rows and columns, with one row and column of padding.
    row->f32.avg_pool2d_forward(context, square_pool2d(1, 4, 1, 3, 2, 1, true, true), ones.get(), nine.get());
    check_values<float>(nine, {corner, edge, 2.0f / 6, edge, 1, 3.0f / 6, 2.0f / 6, 3.0f / 6, 1.0f / 4});
  }
}

TEST_CASE("avg_pool2d: every row against the reference", "[pool2d]") {
  for (const NamedPool2d& named : shapes()) {
    const Pool2dShape& shape = named.shape;
    const Buffer<float> x = random_x(shape), dy = random_y(shape);
    const Buffer<double> x64 = convert<double>(x), dy64 = convert<double>(dy);
    Context reference(reference_row());
    const Kernels<double>& kernels = reference_row().f64;
    Buffer<double> y64(dy.size()), dx64(x.size()), y_scale(dy.size()), dx_scale(x.size());
    kernels.avg_pool2d_forward(reference, shape, x64.get(), y64.get());
    kernels.avg_pool2d_forward(reference, shape, absolute(x64).get(), y_scale.get());
    kernels.avg_pool2d_backward(reference, shape, dy64.get(), dx64.get());
    kernels.avg_pool2d_backward(reference, shape, absolute(dy64).get(), dx_scale.get());
    for (const Backend* row : rows_with(kAvgForward)) {
      INFO(row->name << ", " << named.name);
      Context context(*row);
      Buffer<float> y(dy.size());
      row->f32.avg_pool2d_forward(context, shape, x.get(), y.get());
      check_close(y, y64, y_scale, shape.r * shape.s);
    }
    for (const Backend* row : rows_with(kAvgBackward)) {
      INFO(row->name << ", " << named.name);
      Context context(*row);
      Buffer<float> dx(x.size());
      row->f32.avg_pool2d_backward(context, shape, dy.get(), dx.get());
      check_close(dx, dx64, dx_scale, shape.r * shape.s);
    }
  }
}

TEST_CASE("avg_pool2d: the average of 4097x4097 ones is 1", "[pool2d]") {
  const int size = 4097;
  const Buffer<float> x(int64_t{size} * size, 1);
  for (const Backend* row : rows_with(kAvgForward)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> y(1);
    row->f32.avg_pool2d_forward(context, square_pool2d(1, size, 1, size, 1), x.get(), y.get());
    check_values<float>(y, {1});
  }
}

TEST_CASE("pool2d: gradients of the reference by central differences", "[pool2d]") {
  Context context(reference_row());
  const Kernels<double>& kernels = reference_row().f64;
  Pool2dShape unequal = square_pool2d(1, 6, 2, 3, 2, 0, true);
  unequal.w = 8;
  unequal.s = 2;
  unequal.stride_w = 3;
  unequal.pad_left = 1;
  unequal.pad_bottom = 2;
  Pool2dShape dilated = square_pool2d(1, 7, 2, 3, 2, 1);
  dilated.dilation_h = 2;
  for (Pool2dShape shape : {square_pool2d(2, 5, 3, 3, 2, 1), square_pool2d(1, 6, 2, 3, 1, 1, true), unequal, dilated}) {
    const Buffer<double> x = convert<double>(random_x(shape)), dy = convert<double>(random_y(shape));
    Buffer<double> y(dy.size()), dx(x.size());
    Index index(shape);
    kernels.max_pool2d_forward(context, shape, x.get(), y.get(), index.get());
    kernels.max_pool2d_backward(context, shape, dy.get(), index.get(), dx.get());
    check_gradient(dx, central_differences(x, dy, [&](const double* moved, double* result) {
                     kernels.max_pool2d_forward(context, shape, moved, result, nullptr);
                   }));
    if (shape.dilated()) continue;
    for (const bool include : {true, false}) {
      shape.count_include_pad = include;
      kernels.avg_pool2d_backward(context, shape, dy.get(), dx.get());
      check_gradient(dx, central_differences(x, dy, [&](const double* moved, double* result) {
                       kernels.avg_pool2d_forward(context, shape, moved, result);
                     }));
    }
  }
}

}  // namespace
}  // namespace dnn::test
