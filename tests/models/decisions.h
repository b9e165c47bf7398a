#pragma once
#include <functional>
#include <string>
#include <vector>

#include <libdnn/layers/module.h>

// The points at which a net's gradient jumps: which cell of a max-pooling window is the largest, whether a ReLU is on.
// Two rows that round differently may decide a tie differently, and then both gradients are right.
namespace dnn::test {

// All decisions of one layer: `cells` has groups of `options` values, and the first of a group's largest is chosen.
struct Decision {
  std::string layer;
  int options = 0;
  std::vector<float> cells;
};

// Those of the MaxPool2d (without padding) and of the Linear layers with a ReLU that run() calls.
std::vector<Decision> record_decisions(Module& net, const std::function<void()>& run);

// Whether all are the same. A choice that differs must be a tie: the two cells are closer than `tolerance` times the
// layer's largest; anything else fails the test.
bool same_but_for_ties(const std::vector<Decision>& a, const std::vector<Decision>& b, double tolerance);

}  // namespace dnn::test
