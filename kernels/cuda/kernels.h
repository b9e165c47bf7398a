#pragma once
#include <kernels/catalogue.h>

// The kernels that the CUDA rows have, as the catalogue describes them; float only.
namespace dnn::cuda {

void unary_forward(Context&, const UnaryParams&, int64_t count, const float* x, float* y);
void unary_backward(Context&, const UnaryParams&, int64_t count, const float* saved, const float* dy, float* dx);
void binary(Context&, BinaryOp, const BroadcastShape&, const float* a, const float* b, float* y);
void gemm(Context&, const GemmShape&, const float* a, const float* b, const Epilogue<float>&, float* c);
void copy_strided(Context&, const StridedShape&, int element_size, const void* x, void* y);
void fill(Context&, int element_size, int64_t count, uint64_t bits, void* y);

}  // namespace dnn::cuda
