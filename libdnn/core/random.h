#pragma once
#include <cstdint>

#include <kernels/context.h>

namespace dnn {

// The program's stream of random numbers: two integers, the same on every device. Each random operation takes one
// number of the stream; a checkpoint stores random_state() and sets it again.
void manual_seed(uint64_t seed);  // also starts the count of calls at 0
RandomState random_state();       // what the next random operation will use
void set_random_state(RandomState state);
RandomState next_random();  // takes a number of the stream

}  // namespace dnn
