#pragma once
// The whole library.

// Before anything else, so that an older standard gives this line and not hundreds of others.
#if __cplusplus < 202002L
#error "libdnn needs C++20: compile with -std=c++20"
#else

#include <libdnn/autograd/function.h>
#include <libdnn/autograd/gradcheck.h>
#include <libdnn/autograd/tape.h>
#include <libdnn/core/allocator.h>
#include <libdnn/core/counted.h>
#include <libdnn/core/device.h>
#include <libdnn/core/random.h>
#include <libdnn/core/tensor.h>
#include <libdnn/core/threads.h>
#include <libdnn/core/version.h>
#include <libdnn/data/data_loader.h>
#include <libdnn/data/dataset.h>
#include <libdnn/data/find_pictures.h>
#include <libdnn/data/idx.h>
#include <libdnn/data/image.h>
#include <libdnn/data/image_folder.h>
#include <libdnn/data/image_memory.h>
#include <libdnn/data/preprocess.h>
#include <libdnn/data/resize.h>
#include <libdnn/data/synthetic.h>
#include <libdnn/formats/atomic_file.h>
#include <libdnn/formats/name_list.h>
#include <libdnn/formats/npy.h>
#include <libdnn/formats/tensor_proto.h>
#include <libdnn/formats/weights.h>
#include <libdnn/layers/init.h>
#include <libdnn/layers/layers.h>
#include <libdnn/layers/optimize_for_inference.h>
#include <libdnn/measure/summary.h>
#include <libdnn/models/alexnet.h>
#include <libdnn/models/googlenet.h>
#include <libdnn/models/inception_v3.h>
#include <libdnn/models/lenet.h>
#include <libdnn/models/mnist_cnn.h>
#include <libdnn/models/mobilenet.h>
#include <libdnn/models/resnet.h>
#include <libdnn/models/squeezenet.h>
#include <libdnn/models/vgg.h>
#include <libdnn/models/zoo.h>
#include <libdnn/ops/ops.h>
#include <libdnn/optim/schedule.h>
#include <libdnn/optim/sgd.h>
#include <libdnn/train/evaluate.h>
#include <libdnn/train/non_finite.h>
#include <libdnn/train/progress.h>
#include <libdnn/train/trainer.h>

#endif
