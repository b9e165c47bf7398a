#include <libdnn/ops/conv_transpose2d.h>

#include <fmt/format.h>

#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/epilogue.h>
#include <libdnn/ops/pad2d.h>

namespace dnn {
namespace {

constexpr const char* kOp = "conv_transpose2d";

int output_size(const char* side, int in, int stride, int padding_begin, int padding_end, int dilation, int window,
                int output_padding) {
  const int64_t size =
      (int64_t{in} - 1) * stride - padding_begin - padding_end + int64_t{dilation} * (window - 1) + output_padding + 1;
  if (size > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("[{}] the result is too large in {}; got {}", kOp, side, size));
  }
  if (size < 1) {
    throw Error(fmt::format("[{}] the padding must leave an output in {}; got {} for padding {} + {}", kOp, side, size,
                            padding_begin, padding_end));
  }
  return static_cast<int>(size);
}

// The convolution from y to x of which this is the adjoint.
Conv2dShape adjoint_shape(const Tensor& x, const Tensor& w, const ConvTranspose2dOptions& o) {
  check_dims(kOp, "x", x, 4);
  check_dims(kOp, "w", w, 4);
  if (w.size(0) != x.size(3)) {
    throw Error(fmt::format("[{}] w (C, R, S, K / groups) must fit x (N, H, W, C); got w {} for x {}{}", kOp,
                            w.shape().str(), x.shape().str(), layout_hint(x.shape(), w.size(0))));
  }
  if (o.groups < 1 || x.size(3) % o.groups != 0) {
    throw Error(fmt::format("[{}] groups must divide the channels; got {} for {}", kOp, o.groups, x.size(3)));
  }
  Conv2dShape shape;
  shape.n = x.size(0), shape.k = x.size(3);
  shape.r = w.size(1), shape.s = w.size(2), shape.c = w.size(3) * o.groups;
  shape.stride_h = o.stride[0], shape.stride_w = o.stride[1];
  shape.pad_top = o.padding[0], shape.pad_left = o.padding[1];
  shape.pad_bottom = o.padding[2], shape.pad_right = o.padding[3];
  shape.dilation_h = o.dilation[0], shape.dilation_w = o.dilation[1];
  shape.groups = o.groups;
  shape.h = output_size("height", x.size(1), shape.stride_h, shape.pad_top, shape.pad_bottom, shape.dilation_h, shape.r,
                        o.output_padding[0]);
  shape.w = output_size("width", x.size(2), shape.stride_w, shape.pad_left, shape.pad_right, shape.dilation_w, shape.s,
                        o.output_padding[1]);
  shape.check(kOp);
  return shape;
}

}  // namespace

Tensor conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvTranspose2dOptions& options) {
  check_output_padding(kOp, options.output_padding, options.stride, options.dilation);
  const Activation activation = options.activation;
  // Of the adjoint convolution's results only those of x count: an output_padding of a whole stride, which a dilation
  // allows, is a row or column of zeros behind x.
  const int rows = options.output_padding[0] / options.stride[0],
            columns = options.output_padding[1] / options.stride[1];
  if (rows > 0 || columns > 0) {
    ConvTranspose2dOptions rest = options;
    rest.output_padding = {options.output_padding[0] % options.stride[0],
                           options.output_padding[1] % options.stride[1]};
    return conv_transpose2d(pad2d(x, {0, 0, rows, columns}), w, bias, rest);
  }
  const Conv2dShape shape = adjoint_shape(x, w, options);
  if (!can_fuse(kOp, activation, wants_grad({x, w, bias}))) {
    ConvTranspose2dOptions plain = options;
    plain.activation = Activation::none;
    return activate(conv_transpose2d(x, w, bias, plain), activation);
  }
  if (bias.defined()) check_shape(kOp, "bias", bias, {shape.c});
  Tensor y({shape.n, shape.h, shape.w, shape.c}, x.dtype(), x.device());
  run_kernel(kOp, {&x, &w, &bias}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.conv2d_backward_input(context, shape, x.data<T>(), w.data<T>(), y.data<T>());
    if (!bias.defined() && activation == Activation::none) return;
    k.epilogue(context, {shape.x_pixels(), shape.c}, {data_or_null<T>(bias), nullptr, activation}, y.data<T>(),
               y.data<T>());
  });

  if (!wants_grad({x, w, bias})) return y;
  const bool want_dx = wants_grad(x), want_dw = wants_grad(w), want_dbias = wants_grad(bias);
  record(kOp, {x, w, bias}, {y},
         [=, x = want_dw ? x : Tensor(), w = want_dx ? w : Tensor(),
          y = activation != Activation::none ? y.detach() : Tensor()](const TensorList& dy) -> TensorList {
           const EpilogueGrads grads = epilogue_backward(kOp, activation, y, dy[0], want_dbias);
           const Tensor& dz = grads.dz;
           Tensor dx, dw;
           if (want_dx) dx = Tensor({shape.n, shape.oh(), shape.ow(), shape.k}, dz.dtype(), dz.device());
           if (want_dw) dw = Tensor({shape.k, shape.r, shape.s, shape.c / shape.groups}, dz.dtype(), dz.device());
           run_kernel(kOp, {&dz, &x, &w}, [&]<class T>(const Kernels<T>& k, Context& context) {
             if (want_dx) k.conv2d_forward(context, shape, dz.data<T>(), w.data<T>(), {}, dx.data<T>());
             if (want_dw) k.conv2d_backward_weight(context, shape, dz.data<T>(), x.data<T>(), dw.data<T>());
           });
           return {dx, dw, grads.dbias};
         });
  return y;
}

}  // namespace dnn
