#pragma once

// On functions that kernels of a device call too: nvcc compiles them for both; elsewhere it says nothing.
#ifdef __CUDACC__
#define DNN_HOST_DEVICE __host__ __device__
#else
#define DNN_HOST_DEVICE
#endif
