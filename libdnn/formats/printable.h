#pragma once
#include <string>
#include <string_view>

namespace dnn {

// A text out of a file, fit for a message: at most 100 characters, with \x.. for what is not printable ASCII.
std::string printable(std::string_view text);

}  // namespace dnn
