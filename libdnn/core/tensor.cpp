#include <libdnn/core/tensor.h>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <libdnn/core/counted.h>
#include <libdnn/core/device_status.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/core/random.h>
#include <libdnn/core/tensor_impl.h>

namespace dnn {

Tensor::Tensor(const Shape& shape, DType dtype, const Device& device) : impl_(std::make_shared<TensorImpl>()) {
  impl_->shape = shape;
  impl_->dtype = dtype;
  impl_->storage = std::make_shared<Storage>(device, static_cast<size_t>(shape.numel()) * size_of(dtype));
}

const TensorImpl& Tensor::checked() const {
  if (!impl_) throw Error("[tensor] used before it was given a value");
  return *impl_;
}

const Shape& Tensor::shape() const { return checked().shape; }
DType Tensor::dtype() const { return checked().dtype; }
Device Tensor::device() const { return checked().storage->device; }
void* Tensor::raw_data() const { return checked().storage->block.data; }

void* Tensor::raw_data(DType expected) const {
  if (checked().dtype != expected) {
    throw Error(fmt::format("[data] the tensor holds {}; got a request for {}", name_of(dtype()), name_of(expected)));
  }
  return impl_->storage->block.data;
}

void Tensor::check_readable(DType expected) const {
  raw_data(expected);
  if (device().name() == "meta") throw Error("[to_vector] a tensor on meta has no values to read");
}

void Tensor::copy_to_host(void* to, DType expected) const {
  const void* from = raw_data(expected);
  Context& context = thread_context(device());
  context.backend.device.copy_to_host(context, to, from, static_cast<size_t>(numel()) * size_of(dtype()));
  check_pending_labels(context);
}

double Tensor::item() const {
  if (numel() != 1) throw Error(fmt::format("[item] needs a tensor of one element; got {}", shape().str()));
  return with_type(dtype(), [&]<class T>(T) { return static_cast<double>(to_vector<T>()[0]); });
}

bool Tensor::requires_grad() const { return checked().requires_grad; }

const Tensor& Tensor::requires_grad(bool wanted) const {
  if (!is_leaf()) throw Error("[requires_grad] only a leaf can be set; this tensor is a result");
  if (wanted && !is_floating_point(dtype())) {
    throw Error(fmt::format("[requires_grad] only float tensors have gradients; got {}", name_of(dtype())));
  }
  impl_->requires_grad = wanted;
  return *this;
}

bool Tensor::is_leaf() const { return checked().node == nullptr; }
Tensor Tensor::grad() const { return checked().grad; }

void Tensor::set_grad(const Tensor& grad) const {
  checked();
  if (grad.defined() && !(grad.shape() == shape() && grad.dtype() == dtype() && grad.device() == device())) {
    const auto words = [](const Tensor& t) {
      return fmt::format("{} {} on {}", name_of(t.dtype()), t.shape().str(), t.device().name());
    };
    throw Error(fmt::format("[set_grad] a gradient has its tensor's shape, dtype and device: {}; got {}", words(*this),
                            words(grad)));
  }
  impl_->grad = grad;
}

Tensor Tensor::detach() const {
  auto impl = std::make_shared<TensorImpl>();
  impl->shape = shape();
  impl->dtype = impl_->dtype;
  impl->storage = impl_->storage;
  return Tensor(std::move(impl));
}

void Tensor::copy_from(const Tensor& from) const {
  if (!(from.shape() == shape()) || from.dtype() != dtype()) {
    throw Error(fmt::format("[copy_from] needs {} {}; got {} {}", name_of(dtype()), shape().str(),
                            name_of(from.dtype()), from.shape().str()));
  }
  const size_t bytes = static_cast<size_t>(numel()) * size_of(dtype());
  Context &there = thread_context(device()), &here = thread_context(from.device());
  const DeviceApi &to_api = there.backend.device, &from_api = here.backend.device;
  if (device() == from.device()) {
    to_api.copy(there, raw_data(), from.raw_data(), bytes);
  } else if (from_api.host_memory) {
    to_api.copy_from_host(there, raw_data(), from.raw_data(), bytes);
  } else if (to_api.host_memory) {
    from_api.copy_to_host(here, raw_data(), from.raw_data(), bytes);
    check_pending_labels(here);
  } else {
    std::vector<std::byte> between(bytes);
    from_api.copy_to_host(here, between.data(), from.raw_data(), bytes);
    check_pending_labels(here);
    to_api.copy_from_host(there, raw_data(), between.data(), bytes);
  }
}

void Tensor::move_to(const Device& to) const {
  if (device() == to) return;
  Tensor moved(shape(), dtype(), to);
  moved.copy_from(*this);
  impl_->storage = moved.impl_->storage;
  if (impl_->grad.defined()) impl_->grad.move_to(to);
}

namespace {

// The value in the type; Error where a number of that type can't be near it. A float16 may be infinite or NaN, if the
// value is.
template <class T>
T as_element(double value) {
  using Limits = std::numeric_limits<T>;
  constexpr DType kType = dtype_of<T>();
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    // 2^63 itself is no int64, though the largest one rounds to it.
    const double least = static_cast<double>(Limits::min()), most = static_cast<double>(Limits::max());
    if (!(value >= least && (sizeof(T) == 8 ? value < most : value <= most))) {
      throw Error(fmt::format("[full] {} holds numbers from {} to {}; got {}", name_of(kType), Limits::min(),
                              Limits::max(), value));
    }
  }
  const T element = static_cast<T>(value);
  if constexpr (kType == DType::float16) {
    if (std::isinf(static_cast<float>(element)) && std::isfinite(value)) {
      throw Error(fmt::format("[full] float16 holds numbers from -65504 to 65504; got {}", value));
    }
  }
  return element;
}

}  // namespace

Tensor full(const Shape& shape, double value, DType dtype, const Device& device) {
  const uint64_t bits = with_type(dtype, [&]<class T>(T) {
    const T element = as_element<T>(value);
    uint64_t whole = 0;
    std::memcpy(&whole, &element, sizeof element);
    return whole;
  });
  Tensor y(shape, dtype, device);
  run_raw_kernel("full", {&y}, [&](const RawKernels& k, Context& context) {
    k.fill(context, size_of(dtype), y.numel(), bits, y.raw_data());
  });
  return y;
}

Tensor zeros(const Shape& shape, DType dtype, const Device& device) { return full(shape, 0, dtype, device); }
Tensor ones(const Shape& shape, DType dtype, const Device& device) { return full(shape, 1, dtype, device); }

Tensor rand(const Shape& shape, double low, double high, DType dtype, const Device& device) {
  if (!(low <= high && std::isfinite(high - low))) {
    throw Error(fmt::format("[rand] low must not be above high, and both finite; got {} and {}", low, high));
  }
  Tensor y(shape, dtype, device);
  run_kernel("rand", {&y}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.fill_uniform(context, y.numel(), static_cast<T>(low), static_cast<T>(high), next_random(), y.data<T>());
  });
  return y;
}

Tensor randn(const Shape& shape, double mean, double std, DType dtype, const Device& device) {
  if (!(std >= 0 && std::isfinite(std) && std::isfinite(mean))) {
    throw Error(fmt::format("[randn] needs a finite mean and a finite std from 0 on; got {} and {}", mean, std));
  }
  Tensor y(shape, dtype, device);
  run_kernel("randn", {&y}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.fill_normal(context, y.numel(), static_cast<T>(mean), static_cast<T>(std), next_random(), y.data<T>());
  });
  return y;
}

template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape, const Device& device) {
  if (static_cast<int64_t>(values.size()) != shape.numel()) {
    throw Error(fmt::format("[from_vector] shape {} has {}; got {}", shape.str(), counted(shape.numel(), "element"),
                            values.size()));
  }
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    return from_blob(bytes.data(), shape, DType::boolean, device);
  } else {
    return from_blob(values.data(), shape, device);
  }
}

Tensor from_blob(const void* values, const Shape& shape, DType dtype, const Device& device) {
  Tensor y(shape, dtype, device);
  device.backend().device.copy_from_host(thread_context(device), y.raw_data(), values,
                                         static_cast<size_t>(shape.numel()) * size_of(dtype));
  return y;
}

template Tensor from_vector(const std::vector<float>&, const Shape&, const Device&);
template Tensor from_vector(const std::vector<double>&, const Shape&, const Device&);
template Tensor from_vector(const std::vector<int32_t>&, const Shape&, const Device&);
template Tensor from_vector(const std::vector<uint8_t>&, const Shape&, const Device&);
template Tensor from_vector(const std::vector<Float16>&, const Shape&, const Device&);
template Tensor from_vector(const std::vector<BFloat16>&, const Shape&, const Device&);
template Tensor from_vector(const std::vector<int64_t>&, const Shape&, const Device&);
template Tensor from_vector(const std::vector<bool>&, const Shape&, const Device&);

}  // namespace dnn
