#pragma once

namespace dnn {

const char* version();  // "0.1.0"

}  // namespace dnn
