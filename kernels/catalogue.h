#pragma once
#include <cstdint>
#include <type_traits>

#include <kernels/context.h>
#include <kernels/epilogue.h>
#include <kernels/params.h>
#include <kernels/shapes.h>

// The catalogue: every kernel of the library, as X(name, parameters after the Context...). All pointers are to dense
// memory of the backend's device (pitches: see shapes.h) and don't overlap unless it says so. Backward kernels
// overwrite their results. A pointer marked "or null" may be null where the caller doesn't want or have it.
#define DNN_KERNELS(X, T)                                                                                              \
  /* c = activation(alpha * op(a) op(b) + beta * c + bias + residual); a residual has c's pitch */                     \
  X(gemm, const GemmShape&, const T* a, const T* b, const Epilogue<T>&, T* c)                                          \
  /* b in the layout that the row computes from, for any m: first the count of values with null, then the values.      \
     gemm_packed_b is gemm with such a b */                                                                            \
  X(gemm_pack_b, const GemmShape&, const T* b, int64_t& count, T* packed_or_null)                                      \
  X(gemm_packed_b, const GemmShape&, const T* a, const T* packed, const Epilogue<T>&, T* c)                            \
  /* y = activation(conv(x, w) + bias + residual); a residual has y's pitch. Gaps between pitched rows are neither     \
     used nor written, by any kernel */                                                                                \
  X(conv2d_forward, const Conv2dShape&, const T* x, const T* w, const Epilogue<T>&, T* y)                              \
  /* w in the layout that the row computes from, best for pictures of the shape's n, h and w but right for all; called \
     first with null for its size, then for the values. conv2d_forward_packed is conv2d_forward with such a weight */  \
  X(conv2d_pack_weight, const Conv2dShape&, const T* w, Conv2dPacking&, T* packed_or_null)                             \
  X(conv2d_forward_packed, const Conv2dShape&, const Conv2dPacking&, const T* x, const T* packed, const Epilogue<T>&,  \
    T* y)                                                                                                              \
  X(conv2d_backward_input, const Conv2dShape&, const T* dy, const T* w, T* dx)                                         \
  X(conv2d_backward_weight, const Conv2dShape&, const T* x, const T* dy, T* dw)                                        \
  /* every channel by itself with the one filter w (r, s) and the one bias; k == c */                                  \
  X(shared_conv2d_forward, const Conv2dShape&, const T* x, const T* w, const T* bias_or_null, Activation, T* y)        \
  X(shared_conv2d_backward_input, const Conv2dShape&, const T* dy, const T* w, T* dx)                                  \
  X(shared_conv2d_backward_weight, const Conv2dShape&, const T* x, const T* dy, T* dw, T* dbias_or_null)               \
  /* index (n, oh, ow, c), dense: the largest cell of the window as row * s + column, the first of equals, uint8 or    \
     int32 (byte_index()). A window with a NaN gives NaN and the index of a NaN. Padding is minus infinity; a window   \
     without a cell in the picture, as a dilation may leave, gives that, index 0 and no gradient */                    \
  X(max_pool2d_forward, const Pool2dShape&, const T* x, T* y, void* index_or_null)                                     \
  X(max_pool2d_backward, const Pool2dShape&, const T* dy, const void* index, T* dx)                                    \
  X(avg_pool2d_forward, const Pool2dShape&, const T* x, T* y)                                                          \
  X(avg_pool2d_backward, const Pool2dShape&, const T* dy, T* dx)                                                       \
  /* y = activation(x + bias + residual); y may be x */                                                                \
  X(epilogue, const RowsShape&, const Epilogue<T>&, const T* x, T* y)                                                  \
  /* from y = activation(z): dz = dy * activation'(z), dbias = column sums of dz; dz may be dy, y null without         \
     activation, dz null where only dbias is wanted (then the activation is none) */                                   \
  X(epilogue_backward, const RowsShape&, Activation, const T* y, const T* dy, T* dz, T* dbias_or_null)                 \
  /* y = f(x), element by element; unary.h has the functions and their parameters. y may be x */                       \
  X(unary_forward, const UnaryParams&, int64_t count, const T* x, T* y)                                                \
  /* dx = dy * f'(x). saved is y where slope_from_output(f), else x; null where constant_slope(f.op). dx may be dy */  \
  X(unary_backward, const UnaryParams&, int64_t count, const T* saved_or_null, const T* dy, T* dx)                     \
  /* y = x > 0 ? x : slope * x, one slope for each column; with one column one for all */                              \
  X(prelu_forward, const RowsShape&, const T* x, const T* slope, T* y)                                                 \
  X(prelu_backward, const RowsShape&, const T* x, const T* slope, const T* dy, T* dx_or_null, T* dslope_or_null)       \
  /* y = activation((x - mean) * inv_std * weight + bias + residual), statistics for each column; a null weight is 1.  \
     In training they are those of x, and the running ones, where given, move towards them; else they are the running  \
     ones. Either way mean and inv_std are left for the way back. y is right for all finite x, also where the variance \
     is beyond T; the running variance is then infinite, and who writes it to a file reports that */                   \
  X(batch_norm_forward, const RowsShape&, const BatchNormParams&, const T* x, const T* weight_or_null,                 \
    const Epilogue<T>&, T* running_mean_or_null, T* running_var_or_null, T* y, T* mean, T* inv_std)                    \
  /* dz = dy * activation'(z); z is recomputed from x where y is null, else its slope follows from y, as it must where \
     there was a residual, whose gradient is dz. dx and dresidual may be dy */                                         \
  X(batch_norm_backward, const RowsShape&, const BatchNormParams&, Activation, const T* x, const T* mean,              \
    const T* inv_std, const T* weight_or_null, const T* bias_or_null, const T* y_or_null, const T* dy, T* dx_or_null,  \
    T* dresidual_or_null, T* dweight_or_null, T* dbias_or_null)                                                        \
  /* local response normalisation across channels: shapes.h */                                                         \
  X(lrn_forward, const LrnShape&, const T* x, T* y)                                                                    \
  X(lrn_backward, const LrnShape&, const T* x, const T* dy, T* dx)                                                     \
  /* y = x * scale, scale (n, c) the same for all pixels of a picture: squeeze and excitation */                       \
  X(scale_channels_forward, const ChannelScaleShape&, const T* x, const T* scale, T* y)                                \
  X(scale_channels_backward, const ChannelScaleShape&, const T* x, const T* scale, const T* dy, T* dx_or_null,         \
    T* dscale_or_null)                                                                                                 \
  X(adaptive_avg_pool2d_forward, const ResizeShape&, const T* x, T* y)                                                 \
  X(adaptive_avg_pool2d_backward, const ResizeShape&, const T* dy, T* dx)                                              \
  X(upsample_nearest2d_forward, const ResizeShape&, const T* x, T* y)                                                  \
  X(upsample_nearest2d_backward, const ResizeShape&, const T* dy, T* dx)                                               \
  X(upsample_bilinear2d_forward, const ResizeShape&, const T* x, T* y)                                                 \
  X(upsample_bilinear2d_backward, const ResizeShape&, const T* dy, T* dx)                                              \
  /* the picture with borders of `value`, or without its own where a border is negative; the way back is the call      \
     with the borders negated, whose new cells are 0 */                                                                \
  X(pad2d, const Pad2dShape&, T value, const T* x, T* y)                                                               \
  X(softmax_forward, const RowsShape&, const T* x, T* y)                                                               \
  X(softmax_backward, const RowsShape&, const T* y, const T* dy, T* dx)                                                \
  X(log_softmax_forward, const RowsShape&, const T* x, T* y)                                                           \
  X(log_softmax_backward, const RowsShape&, const T* y, const T* dy, T* dx)                                            \
  /* loss[0] = mean over the rows whose label is not ignored of -sum over j of q[j] * log softmax(x)[j], 0 where there \
     is none; q is 1 - label_smoothing at the label, plus label_smoothing / cols everywhere; with class weights each   \
     term has that of its class j, and the mean is over the weights of the labels; without params.mean the sum.        \
     dx = d loss / d x. *bad_row = the first row whose label is neither ignored nor in [0, cols), else -1; where it is \
     not -1, loss and dx are not to be used */                                                                         \
  X(softmax_cross_entropy, const RowsShape&, const CrossEntropyParams&, const T* x, const int32_t* labels,             \
    const T* class_weights_or_null, T* loss, T* dx_or_null, int64_t* bad_row)                                          \
  /* the same for x = log probabilities, without smoothing: loss[0] = mean of -weight * x[label] */                    \
  X(nll_loss, const RowsShape&, const CrossEntropyParams&, const T* x, const int32_t* labels,                          \
    const T* class_weights_or_null, T* loss, T* dx_or_null, int64_t* bad_row)                                          \
  /* loss[0] = scale * sum of f(x - target), dx = d loss / d x; bce_with_logits is f(x, target) */                     \
  X(pointwise_loss, PointwiseLoss, double beta, double scale, int64_t count, const T* x, const T* target, T* loss,     \
    T* dx_or_null)                                                                                                     \
  /* y = a op b, broadcast; y may be a or b where that is not broadcast. min and max give NaN where an operand is NaN, \
     pow is std::pow */                                                                                                \
  X(binary, BinaryOp, const BroadcastShape&, const T* a, const T* b, T* y)                                             \
  /* y = 1 where a op b holds, else 0; against a NaN only ne does */                                                   \
  X(compare, CompareOp, const BroadcastShape&, const T* a, const T* b, uint8_t* y)                                     \
  /* y = condition ? a : b, all three broadcast; a condition is false where it is 0. y may be a or b where that is not \
     broadcast */                                                                                                      \
  X(where, const TernaryShape&, const uint8_t* condition, const T* a, const T* b, T* y)                                \
  /* y = scale * the sum (or another op) of x over the reduced dimensions, accumulated in double; the mean is          \
     scale = 1 / cells. Of no values: sum 0, prod 1, max and min the infinity that any value replaces. A NaN gives     \
     NaN */                                                                                                            \
  X(reduce, ReduceOp, const ReduceShape&, double scale, const T* x, T* y)                                              \
  /* mean and var = sum of (x - mean)^2 / max(cells - correction, 0) over the reduced dimensions, in one pass that     \
     neither overflows nor cancels */                                                                                  \
  X(moments, const ReduceShape&, double correction, const T* x, T* mean, T* var)                                       \
  /* the place along the axis of its largest or smallest value, the first of equals; a NaN counts as both; size > 0 */ \
  X(arg_reduce, ArgOp, const AxisShape&, const T* x, int32_t* index)                                                   \
  /* y[i] = x[0] + ... + x[i] along the axis, or x[i] + ... + x[size - 1] where `reverse`; accumulated in double */    \
  X(cumsum, const AxisShape&, bool reverse, const T* x, T* y)                                                          \
  /* the k largest (or smallest) values along the axis, the best first, and their places; of equals the first comes    \
     first, and a NaN is larger than all. values and index have k in place of the axis's size */                       \
  X(topk, const AxisShape&, int k, bool largest, const T* x, T* values, int32_t* index)                                \
  X(transpose, const TransposeShape&, const T* x, T* y)                                                                \
  /* rows of `cols` values from pitch x_pitch to pitch y_pitch: concat and split */                                    \
  X(copy_rows, const RowsShape&, int64_t x_pitch, const T* x, int64_t y_pitch, T* y)                                   \
  /* row i of y = row index[i] of the pictures / divisor; index null: row i */                                         \
  X(gather_pixels, const RowsShape&, const uint8_t* pictures, const int32_t* index_or_null, T divisor, T* y)           \
  /* y = x * (1 / (1 - p)) with probability 1 - p, else 0; y may be x. Element i is kept where its 16 random bits      \
     are at least p * 65536, rounded. Which bits and words an element has: philox.h. Backward is the same call */      \
  X(dropout, int64_t count, float p, RandomState, const T* x, T* y)                                                    \
  X(fill_constant, int64_t count, T value, T* y)                                                                       \
  /* y = low + (high - low) * u, u in [0, 1), each operation rounded, so that all rows give the same bits; below high  \
     where that rounds to it */                                                                                        \
  X(fill_uniform, int64_t count, T low, T high, RandomState, T* y)                                                     \
  /* y = mean + std * z, z by Box and Muller: philox.h */                                                              \
  X(fill_normal, int64_t count, T mean, T std, RandomState, T* y)                                                      \
  X(sgd_step, int64_t count, const SgdParams&, const T* dw, T* velocity_or_null, T* w)

namespace dnn {

struct Backend;

// An entry of the table. Calling one that is empty throws "[conv2d_forward] no kernel on cuda".
template <class T, class... Args>
struct Kernel {
  using Function = void (*)(Context&, Args...);
  const char* name = "";
  Function run = nullptr;

  void operator()(Context& context, std::type_identity_t<Args>... args) const {
    if (!run) missing(name, sizeof(T) == sizeof(double), context.backend);
    run(context, args...);
  }

 private:
  [[noreturn]] static void missing(const char* name, bool float64, const Backend& backend);
};

namespace detail {
[[noreturn]] void throw_missing_kernel(const char* name, bool float64, const Backend& backend);
template <class T, class F>
struct KernelOf;
template <class T, class... Args>
struct KernelOf<T, void(Args...)> {
  using type = Kernel<T, Args...>;
};
}  // namespace detail

template <class T, class... Args>
void Kernel<T, Args...>::missing(const char* name, bool float64, const Backend& backend) {
  detail::throw_missing_kernel(name, float64, backend);
}

template <class T>
struct Kernels {
#define DNN_ENTRY(name, ...) typename detail::KernelOf<T, void(__VA_ARGS__)>::type name{#name, nullptr};
  DNN_KERNELS(DNN_ENTRY, T)
#undef DNN_ENTRY
};

// f(entry) for every entry of the table, in its order.
template <class T, class F>
void for_each_kernel(Kernels<T>& kernels, F&& f) {
#define DNN_VISIT(name, ...) f(kernels.name);
  DNN_KERNELS(DNN_VISIT, T)
#undef DNN_VISIT
}

}  // namespace dnn
