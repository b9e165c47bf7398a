#include <libdnn/core/version.h>

namespace dnn {

const char* version() { return DNN_VERSION; }

}  // namespace dnn
