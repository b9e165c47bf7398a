#pragma once
#include <cstdint>
#include <string>

namespace dnn {

// "1 picture", "2 pictures"; of a noun that takes more than an s, both forms are given.
inline std::string counted(int64_t count, const std::string& singular, const std::string& plural) {
  return std::to_string(count) + ' ' + (count == 1 ? singular : plural);
}

inline std::string counted(int64_t count, const std::string& noun) { return counted(count, noun, noun + 's'); }

}  // namespace dnn
