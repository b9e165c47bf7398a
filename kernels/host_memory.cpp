#include <kernels/host_memory.h>

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <kernels/context.h>

namespace dnn {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
std::atomic<int64_t> allocation_count{0};

// Where memory that is to grow begins: a terabyte each, far from where the system places the rest. The system takes
// another place where this one is taken.
void* next_place() {
  constexpr uint64_t kFirst = uint64_t{1} << 45, kStep = uint64_t{1} << 40, kPlaces = 16;
  static std::atomic<uint64_t> count{0};
  return reinterpret_cast<void*>(kFirst + kStep * (count++ % kPlaces));
}

void* map(void* at, size_t bytes) {
  void* const data = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
}

// Whole huge pages come from the system's mapping: fresh small pages are slow to take, and many of them slow to use.
void* map_huge(size_t bytes, void* after) {
  void* data = map(after ? after : next_place(), bytes);
  if (data && after && data != after) {
    munmap(data, bytes);
    return nullptr;
  }
  if (data && reinterpret_cast<uintptr_t>(data) % kHugePage != 0) {
    munmap(data, bytes);
    auto* const begin = static_cast<std::byte*>(map(nullptr, bytes + kHugePage));
    if (!begin) return nullptr;
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
    if (before > 0) munmap(begin, before);
    munmap(begin + before + bytes, kHugePage - before);
    data = begin + before;
  }
  if (data) madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

void* host_alloc(int, size_t bytes, void* after) {
  const size_t alignment = host_memory().alignment;
  void* data = nullptr;
  if (bytes >= kHugePage && bytes % kHugePage == 0) {
    data = map_huge(bytes, after);
  } else if (!after) {
    data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  if (data) ++allocation_count;
  return data;
}

void host_free(int, void* data, size_t bytes) {
  if (bytes >= kHugePage && bytes % kHugePage == 0) {
    munmap(data, bytes);
  } else {
    std::free(data);
  }
}

void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

// The name of the CPU and the memory of the machine, as Linux tells them.
DeviceProperties host_properties(int) {
  DeviceProperties properties{"CPU", 0};
  std::ifstream cpu("/proc/cpuinfo"), memory("/proc/meminfo");
  for (std::string line; std::getline(cpu, line);) {
    if (line.starts_with("model name")) {
      properties.name = line.substr(line.find(':') + 2);
      break;
    }
  }
  for (std::string word; memory >> word;) {
    if (word == "MemTotal:" && memory >> properties.memory_bytes) {
      properties.memory_bytes *= 1024;
      break;
    }
  }
  return properties;
}

}  // namespace

DeviceApi host_memory() {
  DeviceApi api;
  api.host_memory = true;
  api.alloc = host_alloc;
  api.free = host_free;
  api.allocations = [] { return allocation_count.load(); };
  api.stream = [](int, StreamKind) -> void* { return nullptr; };
  api.copy_from_host = [](Context&, void* to, const void* from, size_t bytes) { copy_bytes(to, from, bytes); };
  api.copy_to_host = [](Context&, void* to, const void* from, size_t bytes) { copy_bytes(to, from, bytes); };
  api.copy = [](Context&, void* to, const void* from, size_t bytes) { copy_bytes(to, from, bytes); };
  api.fill = [](Context&, void* data, unsigned char byte, size_t bytes) {
    if (bytes > 0) std::memset(data, byte, bytes);
  };
  // Everything has happened when a call returns: an event is nothing.
  api.record = [](Context&) -> Event* { return nullptr; };
  api.wait = [](Context&, Event*) {};
  api.release = [](Event*) {};
  api.synchronize = [](Context&) {};
  api.properties = host_properties;
  return api;
}

}  // namespace dnn
