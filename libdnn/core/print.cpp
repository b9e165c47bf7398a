#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <type_traits>

#include <libdnn/core/tensor.h>

// As PyTorch prints tensors.
namespace dnn {
namespace {

constexpr int64_t kMostPrinted = 1000;  // elements; of more only the edges
constexpr int kEdge = 3;
constexpr size_t kLine = 80;
constexpr std::string_view kPrefix = "tensor(";

// The places along a dimension that are printed.
std::vector<int> shown(int size, bool shortened) {
  std::vector<int> places;
  for (int i = 0; i < size; ++i) {
    if (!shortened || size <= 2 * kEdge || i < kEdge || i >= size - kEdge) places.push_back(i);
  }
  return places;
}

template <class F>
void for_each_shown(const Shape& shape, bool shortened, int dim, int64_t offset, F&& f) {
  if (dim == shape.dims()) return f(offset);
  for (const int i : shown(shape[dim], shortened))
    for_each_shown(shape, shortened, dim + 1, offset * shape[dim] + i, f);
}

// One form for all numbers: whole ones with a point, four digits behind it, or with exponents where they differ much.
class FloatForm {
 public:
  void add(double value) {
    if (!std::isfinite(value) || value == 0) return;
    whole_ = whole_ && value == std::trunc(value);
    least_ = std::min(least_, std::fabs(value));
    most_ = std::max(most_, std::fabs(value));
  }
  std::string operator()(double value) const {
    if (std::isnan(value)) return "nan";
    if (!std::isfinite(value)) return fmt::format("{}", value);
    const bool exponent = most_ > 0 && (most_ / least_ > 1000 || most_ > 1e8 || (!whole_ && least_ < 1e-4));
    if (exponent) return fmt::format("{:.4e}", value);
    return whole_ ? fmt::format("{:.0f}.", value) : fmt::format("{:.4f}", value);
  }

 private:
  bool whole_ = true;
  double least_ = INFINITY, most_ = 0;
};

template <class T>
class Printer {
 public:
  explicit Printer(const Tensor& t) : shape_(t.shape()), shortened_(t.numel() > kMostPrinted) {
    const std::vector<T> values = t.to_vector<T>();
    if constexpr (std::is_convertible_v<T, float> && !std::is_integral_v<T>) {
      FloatForm form;
      each([&](int64_t i) { form.add(static_cast<double>(values[i])); });
      each([&](int64_t i) { texts_.push_back(form(static_cast<double>(values[i]))); });
    } else {
      each([&](int64_t i) { texts_.push_back(fmt::format("{}", static_cast<T>(values[i]))); });
    }
    for (const std::string& text : texts_) width_ = std::max(width_, text.size());
  }

  std::string str() {
    next_ = 0;
    return str(0, kPrefix.size());
  }

 private:
  template <class F>
  void each(F&& f) const {
    for_each_shown(shape_, shortened_, 0, 0, f);
  }

  std::string str(int dim, size_t indent) {
    if (dim == shape_.dims()) return fmt::format("{:>{}}", texts_[next_++], width_);
    const int size = shape_[dim], places = static_cast<int>(shown(size, shortened_).size());
    const bool last = dim == shape_.dims() - 1;
    const int on_line = last ? static_cast<int>(std::max<size_t>((kLine - indent) / (width_ + 2), 1)) : 1;
    // Matrices stand apart by an empty line, and more of them by more.
    const size_t lines = static_cast<size_t>(std::max(shape_.dims() - 1 - dim, 1));
    const std::string line = std::string(lines, '\n') + std::string(indent + 1, ' ');
    std::string text = "[";
    int printed = 0;
    const auto separate = [&] {
      if (printed > 0) text += printed % on_line == 0 ? "," + line : ", ";
      ++printed;
    };
    for (int i = 0; i < places; ++i) {
      separate();
      text += str(dim + 1, indent + 1);
      if (places < size && i == kEdge - 1) {
        separate();
        text += last ? " ..." : "...";
      }
    }
    return text + "]";
  }

  Shape shape_;
  bool shortened_;
  std::vector<std::string> texts_;
  size_t width_ = 0, next_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& t) {
  if (!t.defined()) return out << "tensor(undefined)";
  out << kPrefix;
  const bool elements = t.device().name() != "meta";
  if (elements) {
    out << (t.numel() == 0 ? "[]" : with_type(t.dtype(), [&]<class T>(T) { return Printer<T>(t).str(); }));
  } else {
    out << "...";
  }
  if (!elements || (t.numel() == 0 && t.dims() != 1)) out << ", size=" << t.shape();
  if (t.dtype() != DType::float32) out << ", dtype=" << name_of(t.dtype());
  if (!(t.device() == default_device())) out << ", device=" << t.device().name();
  return out << ')';
}

}  // namespace dnn
