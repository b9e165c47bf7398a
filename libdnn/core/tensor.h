#pragma once
#include <iosfwd>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include <kernels/error.h>
#include <libdnn/core/device.h>
#include <libdnn/core/dtype.h>
#include <libdnn/core/shape.h>

namespace dnn {

struct Node;        // a step of the tape, see autograd/tape.h
struct TensorImpl;  // what the copies of a handle share

// A dense array on a device. A Tensor is a handle: copies share the elements, the gradient and the place in the graph.
// Picture batches are (N, H, W, C), convolution weights (K, R, S, C / groups). Operations are free functions
// (libdnn/ops); faults are dnn::Error.
class Tensor {
 public:
  Tensor() = default;  // refers to nothing: defined() is false
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  // x[0] = y would change what x[0] returned, and nothing else: it does not compile.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;
  // With room for the elements, which hold anything yet; see zeros() and those beside it.
  explicit Tensor(const Shape& shape, DType dtype = DType::float32, const Device& device = default_device());

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const;
  int dims() const { return shape().dims(); }
  int size(int dim) const { return shape()[dim]; }
  int64_t numel() const { return shape().numel(); }
  DType dtype() const;
  Device device() const;

  // The elements, row-major, in the device's memory; Error where T is not the dtype's type.
  template <class T>
  T* data() const {
    return static_cast<T*>(raw_data(dtype_of<T>()));
  }
  void* raw_data() const;

  // The one element's value, an int64 beyond 2^53 rounded; Error where there is not exactly one, and on meta.
  double item() const;

  template <class T>
  std::vector<T> to_vector() const {  // a copy in host memory; Error where T is not the dtype's type, and on meta
    check_readable(dtype_of<T>());    // before memory is taken for what has none itself
    // A vector of bool has no array of them.
    std::vector<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>> values(static_cast<size_t>(numel()));
    copy_to_host(values.data(), dtype_of<T>());
    if constexpr (std::is_same_v<T, bool>) {
      return std::vector<bool>(values.begin(), values.end());
    } else {
      return values;
    }
  }

  // Gradients. A tensor that asks for one (requires_grad) collects it in grad() at each backward() of a result that
  // was computed from it. Only float tensors can, of any of the four types.
  bool requires_grad() const;
  // Error for a result of recorded operations. net.parameter("weight").requires_grad(false) freezes a parameter.
  const Tensor& requires_grad(bool wanted) const;
  bool is_leaf() const;                                // not the result of a recorded operation
  Tensor grad() const;                                 // undefined before the first backward
  void set_grad(const Tensor& grad) const;             // of this tensor's shape, dtype and device, or undefined
  void backward(const Tensor& grad = Tensor()) const;  // grad: d loss / d this; without it this must be one element

  Tensor detach() const;  // the same elements, outside the graph
  // The following are recorded.
  Tensor clone() const;                   // a copy of the elements
  Tensor to(const Device& device) const;  // on that device; this tensor itself where it is there already
  // In another type; this tensor itself where that is its own. A float becomes an integer without its fraction; what
  // the integer can't hold becomes the nearest that it can, a NaN 0. Integers wrap around. To bool: what is not 0.
  // float16 and bfloat16 round to the nearest, to even. Recorded between floats.
  Tensor to(DType dtype) const;
  Tensor reshape(const std::vector<int>& sizes) const;  // the same elements in another shape; one size may be -1
  // The places from, from + step, ... before `to` along a dimension, copied. Negative places count from the end; what
  // lies outside is cut off. x.slice(0, 1) leaves out the first. The step is at least 1.
  Tensor slice(int dim, int from = 0, int to = std::numeric_limits<int>::max(), int step = 1) const;
  Tensor operator[](int index) const;  // select(x, 0, index), a copy

  // Overwrites the elements; also from another device. Not recorded: a backward() through results that were computed
  // from the old elements takes the new ones for them.
  void copy_from(const Tensor& from) const;
  void move_to(const Device& device) const;  // replaces the storage inside all copies of this handle

  TensorImpl* impl() const { return impl_.get(); }
  const std::shared_ptr<TensorImpl>& shared_impl() const { return impl_; }
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

 private:
  const TensorImpl& checked() const;
  void* raw_data(DType expected) const;
  void check_readable(DType expected) const;
  void copy_to_host(void* to, DType expected) const;

  std::shared_ptr<TensorImpl> impl_;
};

using TensorList = std::vector<Tensor>;

// New tensors. Random ones take the next number of the program's stream (core/random.h).
Tensor zeros(const Shape& shape, DType dtype = DType::float32, const Device& device = default_device());
Tensor ones(const Shape& shape, DType dtype = DType::float32, const Device& device = default_device());
Tensor full(const Shape& shape, double value, DType dtype = DType::float32, const Device& device = default_device());
Tensor rand(const Shape& shape, double low = 0, double high = 1, DType dtype = DType::float32,
            const Device& device = default_device());  // uniform in [low, high)
Tensor randn(const Shape& shape, double mean = 0, double std = 1, DType dtype = DType::float32,
             const Device& device = default_device());

// A tensor with the given elements, row-major; Error where their number isn't the shape's.
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape, const Device& device = default_device());

// A copy of the elements at a pointer to host memory, row-major.
Tensor from_blob(const void* values, const Shape& shape, DType dtype, const Device& device = default_device());

template <class T>
Tensor from_blob(const T* values, const Shape& shape, const Device& device = default_device()) {
  return from_blob(values, shape, dtype_of<T>(), device);
}

inline Tensor tensor(const std::vector<float>& values, const Shape& shape, const Device& device = default_device()) {
  return from_vector(values, shape, device);
}

// The elements in brackets, with 4 digits; of more than 1000 the first and the last three along each dimension. Dtype
// and device follow where they are not float32 and the default device.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace dnn
