#include <libdnn/formats/pickle.h>

#include <kernels/error.h>
#include <libdnn/formats/state_dict.h>

#include "readers.h"

namespace dnn::fuzz {

void pickle(const std::string& bytes) {
  try {
    const pickle::Pickle read(bytes, state_dict_globals(), "[fuzz] bytes");
    read_state_dict(
        read.root(), [](const StorageId&) { return 0; }, "[fuzz] bytes");
  } catch (const Error&) {
  }
}

}  // namespace dnn::fuzz
