#pragma once
#include <string>
#include <string_view>

#include <libdnn/layers/module.h>

namespace dnn {

// What a file of weights has of a module: its parameters and buffers. Error for a module that is frozen for inference,
// and for one that registered no tensors. `where` begins the messages of errors: "[save_weights] FILE".
NamedTensors weights_of(const Module& module, const std::string& where);

bool is_convolution(const Tensor& tensor);  // its weight, which files have in another order

// PyTorch's count of training steps in a batch norm: 64 bits in its files, not in all of them.
bool is_batch_count(std::string_view name);

}  // namespace dnn
