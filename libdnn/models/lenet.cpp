#include <libdnn/models/lenet.h>

#include <libdnn/layers/layers.h>

namespace dnn {

Sequential lenet(int classes) {
  Sequential net;                       // 28 x 28 x 1
  net.add("conv1", Conv2d(1, 20, 5));   // 24 x 24 x 20
  net.add("pool1", MaxPool2d(2));       // 12 x 12 x 20
  net.add("conv2", Conv2d(20, 50, 5));  // 8 x 8 x 50
  net.add("pool2", MaxPool2d(2));       // 4 x 4 x 50
  net.add("flatten", Flatten());        // 800
  net.add("ip1", Linear(800, 500, Activation::relu));
  net.add("ip2", Linear(500, classes));
  return net;
}

}  // namespace dnn
