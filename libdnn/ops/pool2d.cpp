#include <libdnn/ops/pool2d.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {
namespace {

Pool2dShape checked_shape(const char* op, const Tensor& x, const Pool2dOptions& options) {
  check_dims(op, "x", x, 4);
  Pool2dShape shape;
  shape.n = x.size(0), shape.h = x.size(1), shape.w = x.size(2), shape.c = x.size(3);
  shape.r = options.window[0], shape.s = options.window[1];
  shape.stride_h = options.stride[0] != 0 ? options.stride[0] : shape.r;
  shape.stride_w = options.stride[1] != 0 ? options.stride[1] : shape.s;
  shape.pad_top = options.padding[0], shape.pad_left = options.padding[1];
  shape.pad_bottom = options.padding[2], shape.pad_right = options.padding[3];
  shape.dilation_h = options.dilation[0], shape.dilation_w = options.dilation[1];
  shape.ceil_mode = options.ceil_mode;
  shape.count_include_pad = options.count_include_pad;
  shape.check(op);
  return shape;
}

Tensor input_of(const Pool2dShape& shape, const Tensor& like) {
  return Tensor({shape.n, shape.h, shape.w, shape.c}, like.dtype(), like.device());
}

Tensor output_of(const Pool2dShape& shape, const Tensor& like) {
  return Tensor({shape.n, shape.oh(), shape.ow(), shape.c}, like.dtype(), like.device());
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  const Pool2dShape shape = checked_shape("max_pool2d", x, options);
  Tensor y = output_of(shape, x);
  Tensor index;  // which cell of each window was the largest
  if (wants_grad(x)) index = Tensor(y.shape(), shape.byte_index() ? DType::uint8 : DType::int32, x.device());
  run_kernel("max_pool2d", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.max_pool2d_forward(context, shape, x.data<T>(), y.data<T>(), index.defined() ? index.raw_data() : nullptr);
  });

  if (!wants_grad(x)) return y;
  record("max_pool2d", {x}, {y}, [shape, index](const TensorList& dy) -> TensorList {
    const Tensor dx = input_of(shape, dy[0]);
    run_kernel("max_pool2d", {&dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.max_pool2d_backward(context, shape, dy[0].data<T>(), index.raw_data(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options) {
  if (options.dilation != std::array<int, 2>{1, 1}) {
    throw Error(fmt::format("[avg_pool2d] has no dilation; got {}x{}", options.dilation[0], options.dilation[1]));
  }
  const Pool2dShape shape = checked_shape("avg_pool2d", x, options);
  Tensor y = output_of(shape, x);
  run_kernel("avg_pool2d", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.avg_pool2d_forward(context, shape, x.data<T>(), y.data<T>());
  });

  if (!wants_grad(x)) return y;
  record("avg_pool2d", {x}, {y}, [shape](const TensorList& dy) -> TensorList {
    const Tensor dx = input_of(shape, dy[0]);
    run_kernel("avg_pool2d", {&dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.avg_pool2d_backward(context, shape, dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace dnn
