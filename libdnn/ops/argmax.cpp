#include <libdnn/ops/argmax.h>

#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {

Tensor argmax(const Tensor& x) {
  const RowsShape shape = last_dim_rows("argmax", x);
  Tensor y(Shape(x.shape().begin(), x.dims() - 1), DType::int32, x.device());
  run_kernel("argmax", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.argmax(context, shape, x.data<T>(), y.data<int32_t>());
  });
  return y;
}

}  // namespace dnn
