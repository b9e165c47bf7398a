#pragma once
#include <libdnn/data/dataset.h>

namespace dnn {

// Pictures to try a net on where none are at hand: 4 x 4 fields in colours of the class, under noise. Sample i is of
// class i % classes.
ImageDataset synthetic_pictures(int count, int classes, int height, int width, uint64_t seed = 0);

}  // namespace dnn
