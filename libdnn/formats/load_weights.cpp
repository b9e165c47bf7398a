#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <libdnn/formats/module_tensors.h>
#include <libdnn/formats/name_list.h>
#include <libdnn/formats/printable.h>
#include <libdnn/formats/weights.h>
#include <libdnn/formats/wrapped_names.h>

namespace dnn {
namespace {

// A tensor of the module and what the file has for it.
struct Match {
  const NamedTensor* to;
  const TensorFile::Entry* from;
};

// The shape that a tensor of the module has in a file.
std::vector<int64_t> file_shape(const Tensor& tensor) {
  const Shape& s = tensor.shape();
  if (is_convolution(tensor)) return {s[0], s[3], s[1], s[2]};
  return {s.begin(), s.end()};
}

bool is_count(const NamedTensor& tensor) {
  const DType dtype = tensor.tensor.dtype();
  return is_batch_count(tensor.name) && (dtype == DType::int32 || dtype == DType::int64);
}

// Whether values of the one type in a file serve a tensor of the other.
bool converts(DType from, DType to) {
  if (from == to || (is_floating_point(from) && is_floating_point(to))) return true;
  if (from == DType::int64) return to == DType::int32;  // where all of them fit
  return (from == DType::int32 && to == DType::int64) || (from == DType::boolean && to == DType::uint8);
}

bool fits(const Match& match) {
  const Tensor& to = match.to->tensor;
  const std::vector<int64_t> shape = file_shape(to);
  // PyTorch's scalars were tensors of one element once.
  if (match.from->shape != shape && !(shape.empty() && match.from->shape == std::vector<int64_t>{1})) return false;
  const std::optional<DType> type = dtype_of_file(match.from->type);
  return type && (converts(*type, to.dtype()) || is_count(*match.to));
}

// A count as a whole number, whatever its type in the file: tools that convert a whole net make it a float. Undefined
// where that was too small for it. A module's int32 holds it too.
Tensor to_count(const Tensor& values, const std::string& where) {
  for (const double wide : values.to("cpu").to(DType::float64).to_vector<double>()) {
    if (wide == std::numeric_limits<double>::infinity()) return Tensor();
    if (!(std::fabs(wide) <= INT32_MAX) || wide != std::trunc(wide)) {
      throw Error(fmt::format("{} is no count; got {}", where, wide));
    }
  }
  return values.to(DType::int64);
}

void check_int32(const Tensor& values, const std::string& where) {
  for (const int64_t value : values.to_vector<int64_t>()) {
    if (value != static_cast<int32_t>(value)) {
      throw Error(fmt::format("{} has a value beyond 32 bits; got {}", where, value));
    }
  }
}

std::string describe(const LoadReport::Mismatch& mismatch) {
  if (mismatch.needed == mismatch.found) {
    return fmt::format("{} needs {}, the file has {}", mismatch.name, mismatch.needed_type, mismatch.found_type);
  }
  return fmt::format("{} needs ({}), the file has ({})", mismatch.name, fmt::join(mismatch.needed, ", "),
                     fmt::join(mismatch.found, ", "));
}

class Loader {
 public:
  Loader(const char* op, const Module& module, const std::string& path, const LoadOptions& options)
      : where_(fmt::format("[{}] {}", op, path)),
        module_(module),
        tensors_(weights_of(module, where_)),
        names_(tensors_),
        file_(open_tensor_file(path, options.checkpoint_key)) {
    if (const auto* pth = dynamic_cast<const PthFile*>(file_.get())) report_.checkpoint_key = pth->entered();
    match();
  }

  // Error where not all of the module's tensors are to be had.
  void check_whole() const {
    if (report_.missing.empty() && report_.mismatched.empty()) return;
    std::vector<std::string> faults;
    if (!report_.missing.empty()) faults.push_back("missing " + first_names(missing_names()));
    if (!report_.mismatched.empty()) {
      const size_t more = report_.mismatched.size() - 1;
      faults.push_back(describe(report_.mismatched.front()) +
                       (more > 0 ? fmt::format("; {} more of another shape or type", more) : ""));
    }
    if (!report_.unused.empty()) faults.push_back("unused " + first_names(report_.unused));
    if (file_->entries().empty()) faults.push_back("the file has no tensors");
    throw Error(fmt::format("{} does not fit {}: {}", where_, module_.type_name(), fmt::join(faults, "; ")));
  }

  // Everything is read before anything is changed.
  LoadReport load() {
    TensorList values;
    for (const Match& match : matches_) values.push_back(read(match));
    for (size_t i = 0; i < matches_.size(); ++i) {
      if (!values[i].defined()) continue;
      const std::string &from = matches_[i].from->name, &to = matches_[i].to->name;
      matches_[i].to->tensor.copy_from(values[i]);
      report_.loaded.push_back(to);
      if (from != to) report_.renamed.push_back({from, to});
    }
    return report_;
  }

 private:
  void match() {
    std::map<const NamedTensor*, const TensorFile::Entry*> found;
    for (const TensorFile::Entry& entry : file_->entries()) {
      const NamedTensor* to = names_.find(entry.name);
      if (!to) {
        report_.unused.push_back(entry.name);
        continue;
      }
      const auto [known, is_new] = found.emplace(to, &entry);
      if (!is_new) {
        throw Error(fmt::format("{} has '{}' and '{}', which both stand for {}", where_, printable(known->second->name),
                                printable(entry.name), to->name));
      }
    }
    for (const TensorFile::Other& other : file_->others()) report_.others.push_back(other.name);

    std::set<const TensorImpl*> loaded;  // a tensor may have several names
    for (const NamedTensor& to : tensors_) {
      const auto from = found.find(&to);
      if (from == found.end()) continue;
      const Match match{&to, from->second};
      if (!fits(match)) {
        report_.mismatched.push_back({to.name, file_shape(to.tensor), match.from->shape,
                                      std::string(dnn::name_of(to.tensor.dtype())), match.from->type});
        continue;
      }
      matches_.push_back(match);
      loaded.insert(to.tensor.impl());
    }
    for (const NamedTensor& to : tensors_) {
      if (!found.count(&to) && !loaded.count(to.tensor.impl()) && !is_batch_count(to.name)) {
        report_.missing.push_back(to.name);
      }
    }
  }

  // Those that the file has as something else are named with that.
  std::vector<std::string> missing_names() const {
    std::map<std::string_view, const std::string*> others;
    for (const TensorFile::Other& other : file_->others()) {
      if (const NamedTensor* to = names_.find(other.name)) others.emplace(to->name, &other.what);
    }
    std::vector<std::string> names;
    for (const std::string& name : report_.missing) {
      const auto other = others.find(name);
      names.push_back(other == others.end() ? name : fmt::format("{} (the file has {})", name, *other->second));
    }
    return names;
  }

  Tensor read(const Match& match) const {
    const Tensor& to = match.to->tensor;
    Tensor values = file_->read(*match.from);
    const std::string where = fmt::format("{}: tensor '{}'", where_, printable(match.from->name));
    if (is_count(*match.to)) {
      values = to_count(values, where);
      if (!values.defined()) return values;
    }
    if (values.dtype() == DType::int64 && to.dtype() == DType::int32) check_int32(values, where);
    values = values.to(to.dtype());
    return is_convolution(values) ? kcrs_to_krsc(values) : to.dims() == 0 ? values.reshape({}) : values;
  }

  std::string where_;
  const Module& module_;
  NamedTensors tensors_;
  WrappedNames names_;
  std::unique_ptr<TensorFile> file_;
  std::vector<Match> matches_;
  LoadReport report_;
};

}  // namespace

LoadReport load_weights(const Module& module, const std::string& path, const LoadOptions& options) {
  Loader loader("load_weights", module, path, options);
  loader.check_whole();
  return loader.load();
}

LoadReport load_matching_weights(const Module& module, const std::string& path, const LoadOptions& options) {
  return Loader("load_matching_weights", module, path, options).load();
}

}  // namespace dnn
