#pragma once
#include <string>
#include <vector>

#include <libdnn/layers/module.h>

namespace dnn {

struct LayerSummary {
  std::string name, type;  // "layer1.0.conv1", "Conv2d"; the net itself has an empty name
  int depth = 0;           // modules around it
  Shape output;
  int64_t parameters = 0;  // of this module itself, in elements
  double flops = 0;        // forward, with what is below; a multiplication and an addition are two
  int64_t output_bytes = 0;
};

struct Summary {
  std::vector<LayerSummary> layers;  // in the order in which they begin
  int64_t parameters = 0;            // elements
  double flops = 0;                  // forward
  double training_flops = 0;         // forward and backward
  int64_t weights_bytes = 0;         // parameters and buffers
  int64_t input_bytes = 0;
  // In live tensors, weights and input included. Kernels' workspace comes on top.
  int64_t inference_peak_bytes = 0;
  int64_t kept_bytes = 0;           // activations that the way back needs, at the end of the forward pass
  int64_t training_peak_bytes = 0;  // of a step of SGD with momentum: gradients and velocities included
};

// What a net does to an input (N, H, W, C), found by running the real steps on the device "meta", which computes and
// allocates nothing: so it can be asked of nets that no memory would hold. `net` lives on meta; its heads give logits
// (N, classes).
Summary summarize(Module& net, const Shape& input);

}  // namespace dnn
