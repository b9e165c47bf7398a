#include "heap.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>

#include "stream.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace emu {
namespace {

// Where the views are put if the system has nothing there: no pair of sizes or of floats that kernels are given looks
// like an address of this kind, and none of ASan's own memory is near.
constexpr uintptr_t kWishedBegin = 0x3A6D'9000'0000;
constexpr size_t kReserve = size_t{256} << 30;  // addresses of a device
constexpr size_t kLeastReserve = size_t{1} << 30;
constexpr size_t kAlignment = 256;  // of allocations, and of none to more than that
constexpr size_t kGranularity = 512;
constexpr size_t kLarge = size_t{4} << 20;
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kPoisonedWhenFreed = size_t{64} << 10;
#endif
constexpr unsigned char kFill = 0xFF;  // a NaN, an index far outside

struct Record : Allocation {
  std::byte* pages;  // as kernels see them
  size_t page_bytes;
  bool usable = false;  // has its pages
  bool marked = false;  // for release
};

struct DeviceHeap {
  uintptr_t next = 0;  // host view
  size_t in_use = 0;
  std::deque<Record> records;  // of growing addresses
};

uintptr_t view_begin = 0;
size_t reserve = 0;
size_t view_bytes = 0;
size_t device_memory = 0;

DeviceHeap& heap(int device) {
  static auto& heaps = *new std::array<DeviceHeap, kMostDevices>;
  return heaps[static_cast<size_t>(device)];
}

size_t page_size() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

void reserve_addresses() {
  if (view_begin != 0) return;
  for (reserve = kReserve; reserve >= kLeastReserve; reserve /= 2) {
    const size_t bytes = 2 * kMostDevices * reserve;
    void* const begin = mmap(reinterpret_cast<void*>(kWishedBegin), bytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) continue;
    view_begin = reinterpret_cast<uintptr_t>(begin);
    view_bytes = kMostDevices * reserve;
    for (int device = 0; device < kMostDevices; ++device) {
      heap(device).next = view_begin + static_cast<size_t>(device) * reserve + page_size();
    }
    return;
  }
  std::fprintf(stderr, "emu: the system gives no addresses for device memory\n");
  std::abort();
}

// What pages an allocation does not fill keeps its first value, or something wrote there. ASan sees that itself.
void check_surroundings([[maybe_unused]] const Record& record) {
#ifndef __SANITIZE_ADDRESS__
  const auto* const data = static_cast<const std::byte*>(device_view(reinterpret_cast<const void*>(record.begin)));
  const auto written = [](std::byte byte) { return byte != std::byte{kFill}; };
  const auto* const end = record.pages + record.page_bytes;
  const auto* const behind = std::find_if(data + record.bytes, end, written);
  if (behind != end) {
    fault(cudaErrorIllegalAddress, "something wrote %zu bytes behind the end of the %zu bytes of device memory at %p",
          static_cast<size_t>(behind - data) - record.bytes, record.bytes, reinterpret_cast<void*>(record.begin));
  }
  const auto before = std::find_if(std::make_reverse_iterator(data),
                                   std::make_reverse_iterator(static_cast<const std::byte*>(record.pages)), written);
  if (before.base() != record.pages) {
    fault(cudaErrorIllegalAddress, "something wrote %zu bytes before the %zu bytes of device memory at %p",
          static_cast<size_t>(data - before.base()) + 1, record.bytes, reinterpret_cast<void*>(record.begin));
  }
#endif
}

Record* find_record(const void* host_view) {
  if (!is_host_view(host_view)) return nullptr;
  auto& records = heap(device_of(host_view)).records;
  const auto at = reinterpret_cast<uintptr_t>(host_view);
  const auto behind = std::upper_bound(records.begin(), records.end(), at,
                                       [](uintptr_t value, const Record& record) { return value < record.begin; });
  return behind == records.begin() ? nullptr : &*std::prev(behind);
}

bool make_usable(Record& record) {
  if (mprotect(record.pages, record.page_bytes, PROT_READ | PROT_WRITE) != 0) {
    fault(cudaSuccess, "the system gives no more pages or mappings (vm.max_map_count) for device memory");
    return false;
  }
  if (record.page_bytes >= kLarge) madvise(record.pages, record.page_bytes, MADV_HUGEPAGE);  // faster to fill
  record.usable = true;
  std::memset(record.pages, kFill, record.page_bytes);
#ifdef __SANITIZE_ADDRESS__
  auto* const data = static_cast<std::byte*>(device_view(reinterpret_cast<void*>(record.begin)));
  ASAN_POISON_MEMORY_REGION(record.pages, data - record.pages);
  ASAN_POISON_MEMORY_REGION(data + record.bytes, record.pages + record.page_bytes - data - record.bytes);
#endif
  return true;
}

void release(Record& record) {
  if (record.usable) {
    check_surroundings(record);
    // Fresh pages that nobody may touch take the place of the old ones, which go back to the system.
    mmap(record.pages, record.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
#ifdef __SANITIZE_ADDRESS__
    // Only that ASan says it in its own words: nobody may touch the pages. All of it would cost an eighth in memory.
    ASAN_POISON_MEMORY_REGION(record.pages, std::min(record.page_bytes, kPoisonedWhenFreed));
#endif
  }
  record.live = false;
  checker_freed(record);
  heap(record.device).in_use -= round_up(record.bytes, kGranularity);
}

}  // namespace

bool is_host_view(const void* data) { return reinterpret_cast<uintptr_t>(data) - view_begin < view_bytes; }
bool is_device_view(const void* data) {
  return reinterpret_cast<uintptr_t>(data) - view_begin - view_bytes < view_bytes;
}

int device_of(const void* host_view) {
  return static_cast<int>((reinterpret_cast<uintptr_t>(host_view) - view_begin) / reserve);
}

void* device_view(const void* host_view) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(host_view) + view_bytes);
}

const void* host_view(const void* device_view) {
  return reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(device_view) - view_bytes);
}

size_t memory_of_device() {
  if (device_memory == 0) {
    const char* const wish = std::getenv("EMU_MEMORY");
    device_memory = wish != nullptr ? std::strtoull(wish, nullptr, 10) : size_t{8} << 30;
  }
  return device_memory;
}

void set_device_memory(size_t bytes) {
  const std::lock_guard lock(model_mutex());
  device_memory = bytes;
}

size_t memory_in_use(int device) { return heap(device).in_use; }

void* book(int device, size_t bytes) {
  reserve_addresses();
  watch_signals();
  DeviceHeap& mine = heap(device);
  const size_t free = memory_of_device() - std::min(memory_of_device(), mine.in_use);
  if (bytes > free || round_up(bytes, kGranularity) > free) return nullptr;
  // The allocation begins at an odd multiple of the alignment, as it may on a device, and ends near a page nobody may
  // touch.
  const size_t page_bytes = round_up(bytes + kAlignment, page_size());
  size_t offset = (page_bytes - bytes) / kAlignment * kAlignment;
  if (offset / kAlignment % 2 == 0) offset -= kAlignment;
  const uintptr_t end_of_reserve = view_begin + static_cast<size_t>(device + 1) * reserve;
  if (page_bytes + page_size() > end_of_reserve - mine.next) {
    fault(cudaSuccess, "device %d has handed out all %zu GiB of its addresses", device, reserve >> 30);
    return nullptr;
  }
  auto* const pages = static_cast<std::byte*>(device_view(reinterpret_cast<void*>(mine.next)));
  mine.records.push_back({{mine.next + offset, bytes, device, true}, pages, page_bytes});
  mine.in_use += round_up(bytes, kGranularity);
  mine.next += page_bytes + page_size();
  checker_allocated(mine.records.back());
  return reinterpret_cast<void*>(mine.records.back().begin);
}

bool make_usable(void* host_view) {
  Record* const record = find_record(host_view);
  return record != nullptr && record->live && make_usable(*record);
}

void* allocate(int device, size_t bytes) {
  void* const data = book(device, bytes);
  if (data == nullptr || make_usable(data)) return data;
  release(data);
  return nullptr;
}

bool release(void* host_view) {
  Record* const record = find_record(host_view);
  if (record == nullptr || !record->live || record->begin != reinterpret_cast<uintptr_t>(host_view)) return false;
  if (const std::string problem = range_problem(host_view, record->bytes); !problem.empty()) {
    fault(cudaErrorIllegalAddress, "cudaFreeAsync, as it runs: %s", problem.c_str());
  }
  release(*record);
  return true;
}

void release_all(int device) {
  for (Record& record : heap(device).records) {
    if (record.live) release(record);
  }
}

bool mark_for_release(void* host_view) {
  Record* const record = find_record(host_view);
  if (record == nullptr || !record->live || record->marked || record->begin != reinterpret_cast<uintptr_t>(host_view)) {
    return false;
  }
  record->marked = true;
  return true;
}

const Allocation* find_allocation(const void* host_view) { return find_record(host_view); }

std::string range_problem(const void* host_view, size_t bytes) {
  char text[200] = "";
  if (bytes == 0) return text;
  const Record* const record = find_record(host_view);
  const auto at = reinterpret_cast<uintptr_t>(host_view);
  if (!is_host_view(host_view)) {
    std::snprintf(text, sizeof text, "%p is not in device memory", host_view);
  } else if (record == nullptr || at >= record->begin + record->page_bytes) {
    std::snprintf(text, sizeof text, "%p is in no allocation of device memory", host_view);
  } else if (!record->live) {
    std::snprintf(text, sizeof text, "%p is in freed device memory (%zu bytes at %p)", host_view, record->bytes,
                  reinterpret_cast<void*>(record->begin));
  } else if (!record->usable && an_operation_runs()) {
    std::snprintf(text, sizeof text, "%p is memory of a cudaMallocAsync that runs only later in its stream", host_view);
  } else if (at - record->begin > record->bytes || bytes > record->bytes - (at - record->begin)) {
    std::snprintf(text, sizeof text, "%zu bytes from %p on end outside of the %zu bytes of device memory at %p", bytes,
                  host_view, record->bytes, reinterpret_cast<void*>(record->begin));
  }
  return text;
}

bool check_range(const void* host_view, size_t bytes, int device, const char* what) {
  const std::lock_guard lock(model_mutex());
  const std::string problem = range_problem(host_view, bytes);
  if (!problem.empty()) {
    fault(cudaErrorIllegalAddress, "%s: %s", what, problem.c_str());
    return false;
  }
  if (bytes > 0 && device_of(host_view) != device) {
    fault(cudaErrorIllegalAddress, "%s: %p is memory of device %d, used on device %d", what, host_view,
          device_of(host_view), device);
    return false;
  }
  return true;
}

void translate_pointers(void* data, size_t bytes) {
  auto* const words = static_cast<std::byte*>(data);
  for (size_t i = 0; i + sizeof(uintptr_t) <= bytes; i += sizeof(uintptr_t)) {
    uintptr_t word;
    std::memcpy(&word, words + i, sizeof word);
    const auto* const pointer = reinterpret_cast<const void*>(word);
    if (!is_host_view(pointer) || word >= heap(device_of(pointer)).next) continue;
    word = reinterpret_cast<uintptr_t>(device_view(pointer));
    std::memcpy(words + i, &word, sizeof word);
  }
}

}  // namespace emu
