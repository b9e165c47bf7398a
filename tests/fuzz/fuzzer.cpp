// libFuzzer's entry for one reader of readers.h: READER is its name (tests/fuzz.sh).
#include <cstddef>
#include <cstdint>

#include "readers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dnn::fuzz::READER(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
