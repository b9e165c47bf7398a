#include <libdnn/models/mnist_cnn.h>

#include <libdnn/layers/layers.h>

namespace dnn {

Sequential mnist_cnn(int classes) {
  Sequential net;                                         // 28 x 28 x 1
  net.add("conv", Conv2d(1, 6, 5, Activation::sigmoid));  // 24 x 24 x 6
  net.add("subsample", SharedConv2d({.kernel_size = 4, .stride = 4, .activation = Activation::sigmoid}));  // 6 x 6 x 6
  net.add("flatten", Flatten());
  net.add("fc", Linear(216, classes));
  return net;
}

}  // namespace dnn
