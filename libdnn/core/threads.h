#pragma once

namespace dnn {

// How many threads kernels compute with, in the whole program: OMP_NUM_THREADS where set, else the CPUs that this
// process may run on. Setting throws Error below 1. Results do not depend on it.
int num_threads();
void set_num_threads(int threads);

}  // namespace dnn
