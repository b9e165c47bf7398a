#include <libdnn/formats/weights.h>

#include <fmt/format.h>

#include <set>

#include <libdnn/formats/first_bytes.h>
#include <libdnn/formats/module_tensors.h>

namespace dnn {
namespace {

// Each of the n matrices (rows, cols) transposed.
template <class T>
void transpose_matrices(int64_t n, int64_t rows, int64_t cols, const T* from, T* to) {
  for (int64_t i = 0; i < n; ++i, from += rows * cols, to += rows * cols) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) to[c * rows + r] = from[r * cols + c];
    }
  }
}

// The one place: with pixels = R * S, (K, C, pixels) becomes (K, pixels, C) or comes back from it.
Tensor swap_layout(const Tensor& weight, bool to_krsc) {
  if (weight.dims() != 4) {
    throw Error(fmt::format("[weights] a convolution's weight has 4 dimensions; got {}", weight.shape().str()));
  }
  const Shape& from = weight.shape();
  const Shape to = to_krsc ? Shape{from[0], from[2], from[3], from[1]} : Shape{from[0], from[3], from[1], from[2]};
  const int64_t c = to_krsc ? from[1] : from[3];
  const int64_t pixels = to_krsc ? int64_t{from[2]} * from[3] : int64_t{from[1]} * from[2];
  const int64_t rows = to_krsc ? c : pixels, cols = to_krsc ? pixels : c;

  const Tensor x = weight.detach().to("cpu");
  const Tensor y(to, weight.dtype(), "cpu");
  if (!is_floating_point(weight.dtype())) {
    throw Error(fmt::format("[weights] a convolution's weight holds floats; got {}", name_of(weight.dtype())));
  }
  with_type(weight.dtype(), [&]<class T>(T) { transpose_matrices(from[0], rows, cols, x.data<T>(), y.data<T>()); });
  return y.to(weight.device());
}

bool is_pth_name(const std::string& path) { return path.ends_with(".pth") || path.ends_with(".pt"); }

}  // namespace

Tensor to_float_type(const Tensor& values, DType type) {
  return is_floating_point(values.dtype()) && is_floating_point(type) ? values.to(type) : values;
}

Tensor kcrs_to_krsc(const Tensor& weight) { return swap_layout(weight, true); }
Tensor krsc_to_kcrs(const Tensor& weight) { return swap_layout(weight, false); }

std::unique_ptr<TensorFile> open_tensor_file(const std::string& path, const std::string& checkpoint_key) {
  const std::string where = "[load_weights] " + path, begin = first_bytes(path, where);
  if (begin.size() > 8 && begin[8] == '{') {  // after the header's length
    if (!checkpoint_key.empty()) {
      throw Error(
          fmt::format("{} is a safetensors file, which has no checkpoint keys; got '{}'", where, checkpoint_key));
    }
    return std::make_unique<SafetensorsFile>(path);
  }
  if (begin.starts_with("PK\x03\x04") || begin[0] == '\x80') return std::make_unique<PthFile>(path, checkpoint_key);
  throw Error(fmt::format("{} is neither a safetensors file nor one of PyTorch's", where));
}

void save_weights(const Module& module, const std::string& path, const Metadata& metadata) {
  NamedTensors tensors = weights_of(module, "[save_weights] " + path);
  std::set<std::string> counts;
  for (NamedTensor& entry : tensors) {
    if (is_convolution(entry.tensor)) entry.tensor = krsc_to_kcrs(entry.tensor);
    if (is_batch_count(entry.name) && entry.tensor.dtype() == DType::int32) counts.insert(entry.name);
  }
  if (is_pth_name(path)) {
    if (!metadata.empty()) throw Error(fmt::format("[save_weights] {}: a .pth file has no metadata", path));
    write_pth(path, tensors, counts);
    return;
  }
  Metadata all = metadata;
  all.emplace("format", "pt");  // what PyTorch's tools expect
  write_safetensors(path, tensors, all, counts);
}

}  // namespace dnn
