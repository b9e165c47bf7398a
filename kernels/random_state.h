#pragma once
#include <cstdint>

namespace dnn {

// Random numbers are counter-based: functions of these two integers and the element's index, the same on every backend
// (philox.h).
struct RandomState {
  uint64_t seed = 0;
  uint64_t call = 0;  // number of the random call in the program
};

}  // namespace dnn
