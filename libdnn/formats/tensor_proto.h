#pragma once
#include <string>

#include <libdnn/core/named_tensor.h>

namespace dnn {

// ONNX's TensorProto alone in a file, as the .pb files of ONNX's tests are: the sizes, the type, the name, and the
// elements as raw bytes or as numbers. Faults throw Error with the file's name.

// FLOAT, DOUBLE, FLOAT16, BFLOAT16, INT32, INT64, UINT8 and BOOL, the elements in the file itself. In host memory, on
// the device cpu; sizes as the file has them. Memory is taken for what the file holds, not for what it promises.
NamedTensor read_tensor_proto(const std::string& path);

// The elements as raw bytes; sizes as the tensor has them. The file appears whole or not at all.
void write_tensor_proto(const std::string& path, const Tensor& tensor, const std::string& name);

// A tensor from a .npy or TensorProto file: the content says which.
Tensor read_tensor(const std::string& path);

// A path that ends in .npy or .pb says what is written; Error for others. A .npy file has no place for the name.
void write_tensor(const std::string& path, const Tensor& tensor, const std::string& name = "");

}  // namespace dnn
