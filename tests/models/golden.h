#pragma once
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include <libdnn/layers/module.h>

#include "../files.h"

// Weights that anyone can make from a parameter's name, and what other libraries computed with them.
namespace dnn::test {

uint64_t fnv1a64(const std::string& key);

// The first `count` numbers of `key`, in [0, 1): the upper 24 bits of splitmix64 from the key's hash on.
std::vector<double> golden_uniform(const std::string& key, int64_t count);

// Gives every parameter and buffer its golden values, by name and in the order of a file (K, C, R, S).
void set_golden_weights(const Module& net);

inline nlohmann::json load_golden(const std::string& name) {
  std::ifstream file(source_path("tests/data/" + name));
  return nlohmann::json::parse(file);
}

}  // namespace dnn::test
