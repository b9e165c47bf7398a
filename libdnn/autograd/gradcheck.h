#pragma once
#include <functional>
#include <string>

#include <libdnn/core/tensor.h>

namespace dnn {

struct GradcheckResult {
  bool ok = false;
  std::string message;       // the first gradient that is wrong, or why the check is empty
  double largest_error = 0;  // max |a - n| / max(1, |a|, |n|)
  double largest_grad = 0;   // a check whose gradients are all zero proves nothing, and is not ok
};

// Compares the gradient of every input that asks for one with central differences: f in float64 on the reference,
// |a - n| <= 1e-6 max(1, |a|, |n|), step 1e-5. f may have several results, is called many times and must compute the
// same each time; keep inputs off kinks and ties. Inputs are float64 tensors.
GradcheckResult gradcheck(const std::function<TensorList(const TensorList&)>& f, const TensorList& inputs);

}  // namespace dnn
