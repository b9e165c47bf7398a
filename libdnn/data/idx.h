#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dnn {

// An array of bytes in MNIST's IDX format (LeCun, Cortes, Burges): a magic number, the sizes, the values.
struct IdxArray {
  std::vector<int> sizes;
  std::vector<uint8_t> values;
};

// Reads an IDX file of unsigned bytes with `dims` dimensions, plain or gzipped, whatever its name says. A wrong magic
// number, a file that is shorter or longer than its header promises, a damaged gzip or an empty file throws Error with
// the file's name; memory grows with what the file really holds.
IdxArray read_idx(const std::string& path, int dims);

}  // namespace dnn
