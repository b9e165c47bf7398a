#include <cstdlib>

#include <libdnn/formats/npy.h>
#include <libdnn/formats/pth.h>
#include <libdnn/formats/safetensors.h>
#include <libdnn/formats/tensor_proto.h>

#include "../files.h"
#include "readers.h"

namespace dnn::fuzz {
namespace {

// Reads every tensor that can be read; their memory must be accounted for by the file's size: at most `ratio` bytes for
// each of the file's.
template <class File>
void read_file(const std::string& bytes, int64_t ratio) {
  static const TemporaryFolder folder;
  const std::string path = folder.write("input", bytes);
  try {
    File file(path);
    int64_t total = 0;
    for (const TensorFile::Entry& entry : file.entries()) {
      try {
        const Tensor tensor = file.read(entry);
        total += tensor.numel() * size_of(tensor.dtype());
      } catch (const Error&) {
      }
    }
    if (total > ratio * static_cast<int64_t>(bytes.size())) std::abort();
  } catch (const Error&) {
  }
}

// Reads a file of one tensor, whose elements must be in it: a byte of packed numbers is an element at most.
void read_one(const std::string& bytes, Tensor (*read)(const std::string& path)) {
  static const TemporaryFolder folder;
  const std::string path = folder.write("input", bytes);
  try {
    if (read(path).numel() > static_cast<int64_t>(bytes.size())) std::abort();
  } catch (const Error&) {
  }
}

}  // namespace

void npy(const std::string& bytes) { read_one(bytes, read_npy); }
void tensor_proto(const std::string& bytes) {
  read_one(bytes, [](const std::string& path) { return read_tensor_proto(path).tensor; });
}

// Half precision doubles in memory. Views may overlap up to 16 times, and deflate gives 1,032 bytes for one.
void pth(const std::string& bytes) { read_file<PthFile>(bytes, 2 * (16 + 1032)); }
void safetensors(const std::string& bytes) { read_file<SafetensorsFile>(bytes, 2); }

}  // namespace dnn::fuzz
