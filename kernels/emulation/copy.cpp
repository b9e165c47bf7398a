#include <algorithm>
#include <cstring>

#include "heap.h"
#include "memory.h"
#include "stream.h"

// Copies and fills. When the host sees them is as the runtime's documentation has it ("API synchronization behavior"):
// pageable host memory is read before the call returns and written before it returns, pinned memory when the copy runs.
namespace emu {
namespace {

// Rows of bytes, the first at `data`.
struct Rows {
  std::byte* data;
  size_t pitch;
};

struct Copy {
  Rows to, from;
  size_t width, height;
  const char* function;

  bool is_one_piece() const { return height == 1 || (to.pitch == width && from.pitch == width); }
  size_t span(const Rows& rows) const { return rows.pitch * (height - 1) + width; }
  size_t bytes() const { return width * height; }
  bool writes_device() const { return is_host_view(to.data); }
  bool reads_device() const { return is_host_view(from.data); }
};

// Pinned memory that a copy which waits will read.
class WaitingRead {
 public:
  WaitingRead(const std::byte* data, size_t bytes) : data_(data), bytes_(bytes) { all().push_back(this); }
  ~WaitingRead() { std::erase(all(), this); }
  WaitingRead(const WaitingRead&) = delete;
  WaitingRead& operator=(const WaitingRead&) = delete;

  static bool of_any(const std::byte* data, size_t bytes) {
    return std::any_of(all().begin(), all().end(), [&](const WaitingRead* each) {
      return each->data_ < data + bytes && data < each->data_ + each->bytes_;
    });
  }

 private:
  static std::vector<const WaitingRead*>& all() {
    static auto& reads = *new std::vector<const WaitingRead*>;
    return reads;
  }
  const std::byte* data_;
  size_t bytes_;
};

// What is wrong with one side, as text.
std::string side_problem(const Copy& copy, const Rows& rows, bool should_be_device) {
  const bool is_device = is_host_view(rows.data);
  if (is_device != should_be_device) return is_device ? "it is device memory" : "it is host memory";
  if (is_device) return range_problem(rows.data, copy.span(rows));
  if (rows.data == nullptr) return "it is null";
  const PinnedMemory* const pinned = find_pinned(rows.data);
  if (pinned != nullptr && rows.data + copy.span(rows) > pinned->begin + pinned->bytes) {
    return "it ends outside of its pinned memory";
  }
  return {};
}

cudaError_t check(const Copy& copy, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return refuse(cudaErrorInvalidMemcpyDirection);
  const bool known = kind != cudaMemcpyDefault;
  const bool to_device =
      known ? kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice : copy.writes_device();
  const bool from_device =
      known ? kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice : copy.reads_device();
  if (const std::string problem = side_problem(copy, copy.to, to_device); !problem.empty()) {
    fault(cudaSuccess, "%s: the target: %s", copy.function, problem.c_str());
  } else if (const std::string other = side_problem(copy, copy.from, from_device); !other.empty()) {
    fault(cudaSuccess, "%s: the source: %s", copy.function, other.c_str());
  } else if (copy.is_one_piece() && copy.to.data < copy.from.data + copy.bytes() &&
             copy.from.data < copy.to.data + copy.bytes()) {
    fault(cudaSuccess, "%s: source and target overlap", copy.function);
  } else {
    return cudaSuccess;
  }
  return refuse(cudaErrorInvalidValue);
}

// Of the bytes as they are when the operation runs: memory may have been freed meanwhile in the order of another
// stream.
bool still_good(const Copy& copy, const Rows& rows) {
  const std::string problem = is_host_view(rows.data) ? range_problem(rows.data, copy.span(rows)) : std::string();
  if (!problem.empty()) fault(cudaErrorIllegalAddress, "%s, as it runs: %s", copy.function, problem.c_str());
  return problem.empty();
}

void run(const Copy& copy) {
  if (!still_good(copy, copy.to) || !still_good(copy, copy.from)) return;
  const auto real = [](std::byte* data) {
    return is_host_view(data) ? static_cast<std::byte*>(device_view(data)) : data;
  };
  for (size_t row = 0; row < copy.height; ++row) {
    std::byte* const to = real(copy.to.data + row * copy.to.pitch);
    std::memcpy(to, real(copy.from.data + row * copy.from.pitch), copy.width);
    if (copy.writes_device()) checker_written(to, copy.width);
  }
}

Point put_staged(const std::shared_ptr<Queue>& queue, const Copy& copy) {
  const auto staged = std::make_shared<std::vector<std::byte>>(copy.bytes());
  Copy first = copy, second = copy;
  first.to = second.from = {staged->data(), copy.width};
  run(first);
  Operation operation;
  operation.run = [second, staged] { run(second); };
  operation.bytes = copy.bytes();
  return put(queue, std::move(operation));
}

Point put_copy(const std::shared_ptr<Queue>& queue, const Copy& copy) {
  std::shared_ptr<WaitingRead> read;
  if (!copy.reads_device() && find_pinned(copy.from.data) != nullptr) {
    read = std::make_shared<WaitingRead>(copy.from.data, copy.span(copy.from));
  }
  Operation operation;
  operation.run = [copy, read] { run(copy); };
  return put(queue, std::move(operation));
}

// Until the copy runs, the host finds nothing good in pinned memory. What another copy still has to read there stays.
void spoil(const Copy& copy) {
  if (WaitingRead::of_any(copy.to.data, copy.span(copy.to))) return;
  for (size_t row = 0; row < copy.height; ++row) std::memset(copy.to.data + row * copy.to.pitch, 0xFF, copy.width);
}

cudaError_t copy_rows(const Copy& copy, cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const auto queue = find_queue(stream);
  if (!queue) return refuse(cudaErrorInvalidResourceHandle);
  if (copy.bytes() == 0) return cudaSuccess;
  if (copy.height > 1 && (copy.to.pitch < copy.width || copy.from.pitch < copy.width)) {
    return refuse(cudaErrorInvalidPitchValue);
  }
  if (const cudaError_t error = check(copy, kind); error != cudaSuccess) return error;
  if (copy.writes_device() && copy.reads_device()) {
    put_copy(queue, copy);  // no call waits for it
  } else if (copy.writes_device() && find_pinned(copy.from.data) == nullptr) {
    // A call that waits does so for what comes before it; the last part, from a buffer of the driver's, may be under
    // way yet when it returns.
    if (waits) run_until(put(queue, {}));
    put_staged(queue, copy);
  } else {
    const bool to_pinned = !copy.writes_device() && find_pinned(copy.to.data) != nullptr;
    if (to_pinned && copy.reads_device() && streams_are_deferred()) spoil(copy);
    const Point behind = put_copy(queue, copy);
    const bool asynchronous = copy.writes_device() || (to_pinned && copy.reads_device());
    if (waits || !asynchronous) run_until(behind);
  }
  return sticky_error();
}

Copy one_piece(void* to, const void* from, size_t bytes, const char* function) {
  return {{static_cast<std::byte*>(to), bytes},
          {static_cast<std::byte*>(const_cast<void*>(from)), bytes},
          bytes,
          1,
          function};
}

Copy many_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
               const char* function) {
  return {{static_cast<std::byte*>(to), to_pitch},
          {static_cast<std::byte*>(const_cast<void*>(from)), from_pitch},
          width,
          height,
          function};
}

cudaError_t check_peer(const void* data, int device) {
  if (is_host_view(data) && device_of(data) == device) return cudaSuccess;
  fault(cudaSuccess, "cudaMemcpyPeer: %p is not memory of device %d", data, device);
  return refuse(cudaErrorInvalidValue);
}

cudaError_t fill(void* data, int byte, size_t bytes, cudaStream_t stream, const char* function) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const auto queue = find_queue(stream);
  if (!queue) return refuse(cudaErrorInvalidResourceHandle);
  if (const std::string problem = range_problem(data, bytes); !problem.empty()) {
    fault(cudaSuccess, "%s: %s", function, problem.c_str());
    return refuse(cudaErrorInvalidValue);
  }
  if (bytes == 0) return cudaSuccess;
  Operation operation;
  operation.run = [=] {
    if (const std::string problem = range_problem(data, bytes); !problem.empty()) {
      fault(cudaErrorIllegalAddress, "%s, as it runs: %s", function, problem.c_str());
      return;
    }
    std::memset(device_view(data), byte, bytes);
    checker_written(device_view(data), bytes);
  };
  put(queue, std::move(operation));
  return sticky_error();
}

}  // namespace

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy_rows(one_piece(to, from, bytes, "cudaMemcpy"), kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(one_piece(to, from, bytes, "cudaMemcpyAsync"), kind, stream, false);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = check_peer(to, to_device); error != cudaSuccess) return error;
  if (const cudaError_t error = check_peer(from, from_device); error != cudaSuccess) return error;
  return copy_rows(one_piece(to, from, bytes, "cudaMemcpyPeer"), cudaMemcpyDeviceToDevice, stream, false);
}

// Comes after all that both devices have to do, and before all that they will be given.
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = check_peer(to, to_device); error != cudaSuccess) return error;
  if (const cudaError_t error = check_peer(from, from_device); error != cudaSuccess) return error;
  for (const int device : {to_device, from_device, current_device()}) run_all(device);
  const cudaError_t error = cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
  run_all(current_device());
  return error != cudaSuccess ? error : sticky_error();
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return copy_rows(many_rows(to, to_pitch, from, from_pitch, width, height, "cudaMemcpy2D"), kind, nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(many_rows(to, to_pitch, from, from_pitch, width, height, "cudaMemcpy2DAsync"), kind, stream, false);
}

cudaError_t cudaMemset(void* data, int byte, size_t bytes) { return fill(data, byte, bytes, nullptr, "cudaMemset"); }

cudaError_t cudaMemsetAsync(void* data, int byte, size_t bytes, cudaStream_t stream) {
  return fill(data, byte, bytes, stream, "cudaMemsetAsync");
}

}  // namespace emu
