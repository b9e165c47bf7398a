#pragma once
#include <string>

#include <libdnn/layers/module.h>

namespace dnn {

// The first parameter or buffer that has values which are not finite; "" where all are finite.
std::string first_non_finite(const Module& net);

// Where values that are not finite first arise when the net meets this input: in the input, in a parameter or buffer,
// or in the output of a layer, by its name. Runs the net once more, in its present mode.
std::string describe_non_finite(Module& net, const Tensor& input);

}  // namespace dnn
