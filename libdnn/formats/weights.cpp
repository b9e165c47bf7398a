#include <libdnn/formats/weights.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

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
  switch (weight.dtype()) {
    case DType::float32:
      transpose_matrices(from[0], rows, cols, x.data<float>(), y.data<float>());
      break;
    case DType::float64:
      transpose_matrices(from[0], rows, cols, x.data<double>(), y.data<double>());
      break;
    case DType::int32:
    case DType::uint8:
      throw Error(fmt::format("[weights] a convolution's weight holds floats; got {}", name_of(weight.dtype())));
  }
  return y.to(weight.device());
}

bool is_convolution(const Tensor& tensor) { return tensor.dims() == 4; }

// The shape that a tensor of the module has in a file.
std::vector<int64_t> file_shape(const Tensor& tensor) {
  const Shape& s = tensor.shape();
  if (is_convolution(tensor)) return {s[0], s[3], s[1], s[2]};
  return {s.begin(), s.end()};
}

}  // namespace

Tensor kcrs_to_krsc(const Tensor& weight) { return swap_layout(weight, true); }
Tensor krsc_to_kcrs(const Tensor& weight) { return swap_layout(weight, false); }

void save_weights(const Module& module, const std::string& path, const Metadata& metadata) {
  NamedTensors tensors = module.named_tensors();
  for (NamedTensor& entry : tensors) {
    if (is_convolution(entry.tensor)) entry.tensor = krsc_to_kcrs(entry.tensor);
  }
  Metadata all = metadata;
  all.emplace("format", "pt");  // what PyTorch's tools expect
  write_safetensors(path, tensors, all);
}

LoadReport load_weights(const Module& module, const std::string& path) {
  SafetensorsFile file(path);
  LoadReport report;
  std::set<std::string> wanted;
  struct Match {
    Tensor to;
    const SafetensorsFile::Entry* from;
  };
  std::vector<Match> matches;
  for (const auto& [name, tensor] : module.named_tensors()) {
    wanted.insert(name);
    const SafetensorsFile::Entry* entry = file.find(name);
    if (!entry) {
      report.missing.push_back(name);
      continue;
    }
    if (entry->shape != file_shape(tensor)) {
      throw Error(fmt::format("[load_weights] {} needs ({}); {} has ({})", name, fmt::join(file_shape(tensor), ", "),
                              path, fmt::join(entry->shape, ", ")));
    }
    matches.push_back({tensor, entry});
    report.loaded.push_back(name);
  }
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    if (!wanted.count(entry.name)) report.unused.push_back(entry.name);
  }

  TensorList values;
  for (const Match& match : matches) {
    values.push_back(file.read(*match.from));
    if (values.back().dtype() != match.to.dtype()) {
      throw Error(fmt::format("[load_weights] {} needs {}; {} has {}", match.from->name, name_of(match.to.dtype()),
                              path, match.from->type));
    }
  }
  for (size_t i = 0; i < matches.size(); ++i) {
    matches[i].to.copy_from(is_convolution(values[i]) ? kcrs_to_krsc(values[i]) : values[i]);
  }
  return report;
}

}  // namespace dnn
