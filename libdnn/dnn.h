#pragma once
// The whole library.

static_assert(__cplusplus >= 202002L, "libdnn needs C++20: -std=c++20");

#include <libdnn/autograd/function.h>
#include <libdnn/autograd/gradcheck.h>
#include <libdnn/autograd/tape.h>
#include <libdnn/core/random.h>
#include <libdnn/core/tensor.h>
#include <libdnn/core/version.h>
#include <libdnn/data/data_loader.h>
#include <libdnn/data/find_pictures.h>
#include <libdnn/data/image.h>
#include <libdnn/data/image_folder.h>
#include <libdnn/data/image_memory.h>
#include <libdnn/data/preprocess.h>
#include <libdnn/data/synthetic.h>
#include <libdnn/formats/atomic_file.h>
#include <libdnn/formats/npy.h>
#include <libdnn/formats/tensor_proto.h>
#include <libdnn/formats/weights.h>
#include <libdnn/layers/init.h>
#include <libdnn/layers/layers.h>
#include <libdnn/layers/optimize_for_inference.h>
#include <libdnn/measure/summary.h>
#include <libdnn/models/zoo.h>
#include <libdnn/ops/ops.h>
#include <libdnn/optim/schedule.h>
#include <libdnn/optim/sgd.h>
#include <libdnn/train/progress.h>
#include <libdnn/train/trainer.h>
