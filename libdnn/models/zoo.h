#pragma once
#include <memory>
#include <string>
#include <vector>

#include <libdnn/data/preprocess.h>
#include <libdnn/layers/module.h>

namespace dnn {

// A net that can be asked for by name.
struct ZooEntry {
  const char* name;
  std::shared_ptr<Module> (*make)(int classes);
  int height, width, channels;  // of the pictures that it is made for
  int classes;                  // unless one asks for another number
  Preprocessing preprocessing;  // of pictures for its published weights
};

const std::vector<ZooEntry>& zoo();

const ZooEntry& zoo_entry(const std::string& name);  // Error, with the names there are, for another

}  // namespace dnn
