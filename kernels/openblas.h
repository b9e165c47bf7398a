#pragma once
#include <string>

namespace dnn {

// Whether gemm may use OpenBLAS (option DNN_OPENBLAS), and the core type whose kernels that library chose, "Haswell";
// old versions take "Prescott" on CPUs that they don't know, several times slower than these could be.
bool openblas_built();
std::string openblas_core();

}  // namespace dnn
