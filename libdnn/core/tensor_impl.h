#pragma once
#include <memory>

#include <libdnn/core/allocator.h>
#include <libdnn/core/tensor.h>

namespace dnn {

// A block of a device's memory; returns to the allocator with the last tensor that uses it.
struct Storage {
  Storage(const Device& on, size_t bytes) : device(on), block(on.allocator().take(bytes)) {}
  ~Storage() { device.allocator().give_back(block); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Device device;
  Allocator::Block block;
};

struct TensorImpl {
  Shape shape;
  DType dtype = DType::float32;
  std::shared_ptr<Storage> storage;
  bool requires_grad = false;
  Tensor grad;
  std::shared_ptr<Node> node;  // the step that computed this tensor; null for a leaf
  int output = 0;              // which of its results
};

}  // namespace dnn
