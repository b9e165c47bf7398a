#pragma once
#include <string>

namespace dnn {

// The first 64 bytes of a file, or all there are. Error for what stands where a file of tensors should: nothing that
// can be opened, a folder, an empty file, a Git LFS pointer, an HTML page. `where` begins the message: "[read_npy]
// FILE".
std::string first_bytes(const std::string& path, const std::string& where);

}  // namespace dnn
