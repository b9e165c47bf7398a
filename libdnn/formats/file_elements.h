#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// How files of one array name what a tensor holds. `where` begins the messages of errors: "[read_npy] FILE".

// The shape that a file says; Error where it is none of ours, or has more bytes than can be counted. Nothing is
// allocated.
Shape file_shape(const std::vector<int64_t>& sizes, const std::string& where);

// As int32, which is what our tensors hold; Error for a value beyond that.
Tensor from_int64(std::span<const int64_t> values, const Shape& shape, const std::string& where);

// The tensor's elements in host memory, row-major.
Tensor on_host(const Tensor& tensor);

}  // namespace dnn
