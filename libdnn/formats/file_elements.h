#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// How files of one array name what a tensor holds. `where` begins the messages of errors: "[read_npy] FILE".

// The shape that a file says; Error where it is none of ours, or has more bytes than can be counted. Nothing is
// allocated.
Shape file_shape(const std::vector<int64_t>& sizes, const std::string& where);

// Truth values in host memory, as bytes that a file may have as any: 1 for what is not 0.
void to_truth(const Tensor& tensor);

// The tensor's elements in host memory, row-major.
Tensor on_host(const Tensor& tensor);

}  // namespace dnn
