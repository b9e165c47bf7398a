// Stands in for NVIDIA's header of this name where CUDA sources are compiled for the CPU: README.md.
#pragma once
#ifdef __CUDACC__
#error "nvcc found the emulation's cuda_runtime.h; -I .../emulation/stand_in is for the C++ compiler alone"
#endif
#include <emulation/qualifiers.h>

#include <emulation/atomics.h>
#include <emulation/control.h>
#include <emulation/device.h>
#include <emulation/launch.h>
#include <emulation/math.h>
#include <emulation/runtime.h>
#include <emulation/vector_types.h>

using namespace emu;
