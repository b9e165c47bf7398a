#pragma once
#include <string>

#include <kernels/backend.h>

// The rows of the CPU. One function serves all of them: it routes, splits the work into chunks, and calls the inner
// loop of its context's row (Backend::variant, see isa.h and per_isa.h).
namespace dnn::cpu {

#define DNN_DECLARE(name, ...) void name(Context&, __VA_ARGS__);
DNN_KERNELS(DNN_DECLARE, float)
DNN_RAW_KERNELS(DNN_DECLARE)
#undef DNN_DECLARE
#define DNN_DECLARE(name, result, ...) result name(Context&, __VA_ARGS__);
DNN_PLANS(DNN_DECLARE)
#undef DNN_DECLARE

Backend make_backend(const std::string& name);  // without its instruction set

}  // namespace dnn::cpu
