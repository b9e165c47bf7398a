#pragma once
#include <string>

#include <libdnn/core/tensor.h>

namespace dnn {

// NumPy's format of one array (numpy.lib.format): a magic number, a version, the header's length, a header that is a
// Python literal, the elements. Faults throw Error with the file's name.

// Versions 1 to 3; little-endian float32, float64, float16, int32, int64, uint8 and bool; C or Fortran order. In host
// memory, on the device cpu; sizes as the file has them. Nothing is allocated for a number in the header
// before it was found to fit the file.
Tensor read_npy(const std::string& path);

// Version 1, in C order; sizes as the tensor has them. Error for bfloat16, which NumPy lacks. The file appears whole or
// not at all.
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace dnn
