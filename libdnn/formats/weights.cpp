#include <libdnn/formats/weights.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string_view>

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

// PyTorch's count of training steps in a batch norm: 64 bits in its files, not in all of them.
bool is_batch_count(const std::string& name) {
  constexpr std::string_view kName = "num_batches_tracked";
  return name == kName || name.ends_with("." + std::string(kName));
}

bool is_pth_name(const std::string& path) { return path.ends_with(".pth") || path.ends_with(".pt"); }

// "module.", which PyTorch's DataParallel puts before every name, where the file has it and the module does not.
std::string common_prefix(const TensorFile& file, const NamedTensors& tensors) {
  const std::string prefix = "module.";
  const auto begins = [&](const auto& entry) { return entry.name.starts_with(prefix); };
  const bool in_file = std::all_of(file.entries().begin(), file.entries().end(), begins);
  return in_file && !file.entries().empty() && std::none_of(tensors.begin(), tensors.end(), begins) ? prefix : "";
}

void refuse_frozen(const char* op, const Module& module) {
  if (module.frozen_to()) {
    throw Error(fmt::format("[{}] {} '{}' is frozen for inference; take the net before optimize_for_inference", op,
                            module.type_name(), module.name()));
  }
  for (const Child& child : module.children()) refuse_frozen(op, *child.module);
}

}  // namespace

Tensor to_float_type(const Tensor& values, DType type) {
  const auto convert = [&](auto from, auto to) {
    const auto old = values.to_vector<decltype(from)>();
    return from_vector(std::vector<decltype(to)>(old.begin(), old.end()), values.shape(), values.device());
  };
  if (values.dtype() == DType::float64 && type == DType::float32) return convert(double{}, float{});
  if (values.dtype() == DType::float32 && type == DType::float64) return convert(float{}, double{});
  return values;
}

Tensor kcrs_to_krsc(const Tensor& weight) { return swap_layout(weight, true); }
Tensor krsc_to_kcrs(const Tensor& weight) { return swap_layout(weight, false); }

std::unique_ptr<TensorFile> open_tensor_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("[load_weights] {}: {}", path, std::strerror(errno)));
  std::string begin(9, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  file.close();
  if (begin[8] == '{') return std::make_unique<SafetensorsFile>(path);  // after the header's length
  if (begin.starts_with("PK\x03\x04") || begin[0] == '\x80') return std::make_unique<PthFile>(path);
  throw Error(fmt::format("[load_weights] {} is neither a safetensors file nor one of PyTorch's", path));
}

void save_weights(const Module& module, const std::string& path, const Metadata& metadata) {
  refuse_frozen("save_weights", module);
  NamedTensors tensors = module.named_tensors();
  if (tensors.empty()) {
    throw Error(
        fmt::format("[save_weights] {}: {} has no tensors; a module has those that it registers, by add() and such",
                    path, module.type_name()));
  }
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

LoadReport load_weights(const Module& module, const std::string& path, const LoadOptions& options) {
  refuse_frozen("load_weights", module);
  const std::unique_ptr<TensorFile> file = open_tensor_file(path);
  const NamedTensors tensors = module.named_tensors();
  LoadReport report;
  report.prefix = common_prefix(*file, tensors);
  std::map<std::string_view, const TensorFile::Entry*> left;  // of the file
  for (const TensorFile::Entry& entry : file->entries()) {
    left.emplace(std::string_view(entry.name).substr(report.prefix.size()), &entry);
  }

  struct Match {
    Tensor to;
    const TensorFile::Entry* from;
  };
  std::vector<Match> matches;
  for (const auto& [name, tensor] : tensors) {
    const auto found = left.find(name);
    if (found == left.end()) {
      if (!is_batch_count(name)) report.missing.push_back(name);
      continue;
    }
    const TensorFile::Entry& entry = *found->second;
    left.erase(found);
    if (entry.shape != file_shape(tensor)) {
      if (!options.partial) {
        throw Error(fmt::format("[load_weights] {} needs ({}); {} has ({})", name, fmt::join(file_shape(tensor), ", "),
                                path, fmt::join(entry.shape, ", ")));
      }
      report.mismatched.push_back({name, file_shape(tensor), entry.shape});
      continue;
    }
    matches.push_back({tensor, &entry});
    report.loaded.push_back(name);
  }
  for (const TensorFile::Entry& entry : file->entries()) {
    if (left.count(std::string_view(entry.name).substr(report.prefix.size()))) report.unused.push_back(entry.name);
  }
  for (const TensorFile::Other& other : file->others()) report.unused.push_back(other.name);

  TensorList values;
  for (const Match& match : matches) {
    values.push_back(to_float_type(file->read(*match.from), match.to.dtype()));
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
