#pragma once
#include <string>

#include <kernels/backend.h>

// Which product serves the CPU rows: our own, or OpenBLAS where the environment says DNN_GEMM=openblas and the build
// has it (DNN_OPENBLAS=ON).
namespace dnn::cpu {

enum class GemmChoice { packed, openblas };

// From the text of DNN_GEMM, null where it is not set. Throws Error for an unknown word and for a library that the
// build has not.
GemmChoice parse_gemm_choice(const char* text);
GemmChoice gemm_choice();  // DNN_GEMM's, read once

const char* gemm_route(const GemmShape& shape);  // the name of the method that takes a shape

bool openblas_built();
std::string openblas_core();  // the core type whose kernels OpenBLAS chose, such as "Haswell"; "" where not built

// OpenBLAS runs on one thread; we split the longer side of C.
void gemm_openblas(Context&, const GemmShape&, const float* a, const float* b, const Epilogue<float>&, float* c);

}  // namespace dnn::cpu
