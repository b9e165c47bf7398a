#pragma once
#include <string>

namespace dnn::fuzz {

// One for each corpus: reads bytes as a file of its kind and takes dnn::Error for an answer. What else goes wrong is a
// fault, as is memory that the bytes don't account for.
void image(const std::string& bytes);
void npy(const std::string& bytes);
void pickle(const std::string& bytes);
void pth(const std::string& bytes);
void safetensors(const std::string& bytes);
void tensor_proto(const std::string& bytes);

}  // namespace dnn::fuzz
