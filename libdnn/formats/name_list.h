#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace dnn {

// The first names of a list, printable, for a message: "conv1.weight, conv1.bias, bn1.weight and 57 more". One more
// than `most` is shown rather than counted.
std::string first_names(const std::vector<std::string>& names, size_t most = 3);

}  // namespace dnn
