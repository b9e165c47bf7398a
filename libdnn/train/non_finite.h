#pragma once
#include <string>

#include <libdnn/layers/module.h>

namespace dnn {

// Where values that are not finite first arise when the net meets this input: in the input, in a parameter or buffer,
// or in the output of a layer, by its name. Runs the net once more, in its present mode.
std::string describe_non_finite(Module& net, const Tensor& input);

}  // namespace dnn
