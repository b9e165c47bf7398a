#include <catch2/catch.hpp>

#include <random>

#include <kernels/backend.h>
#include <libdnn/core/allocator.h>
#include <libdnn/core/tensor.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

constexpr size_t kMiB = size_t{1} << 20;

// Blocks that are given back with this; memory that nobody touches costs nothing.
class Held {
 public:
  explicit Held(Allocator& allocator) : allocator_(allocator) {}
  ~Held() {
    for (const Allocator::Block& block : blocks_) allocator_.give_back(block);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  void* take(size_t bytes) {
    blocks_.push_back(allocator_.take(bytes));
    return blocks_.back().data;
  }
  void give_back(size_t i) {
    allocator_.give_back(blocks_[i]);
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const std::vector<Allocator::Block>& blocks() const { return blocks_; }

 private:
  Allocator& allocator_;
  std::vector<Allocator::Block> blocks_;
};

TEST_CASE("allocator: blocks are aligned, apart, and counted", "[allocator]") {
  Allocator allocator(backend("reference"), 0);
  std::vector<std::pair<uintptr_t, size_t>> places;
  {
    Held held(allocator);
    for (const size_t bytes : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{4000}, 3 * kMiB, size_t{7}}) {
      auto* const data = static_cast<std::byte*>(held.take(bytes));
      REQUIRE(data != nullptr);
      CHECK(reinterpret_cast<uintptr_t>(data) % 64 == 0);
      data[0] = data[bytes - 1] = std::byte{7};
      for (const auto& [begin, size] : places) {
        const auto at = reinterpret_cast<uintptr_t>(data);
        CHECK((at + bytes <= begin || begin + size <= at));
      }
      places.emplace_back(reinterpret_cast<uintptr_t>(data), bytes);
    }
    CHECK(allocator.stats().allocated_bytes == static_cast<int64_t>(3 * kMiB + 4200));
    CHECK(allocator.take(0).data == nullptr);
  }
  CHECK(allocator.stats().allocated_bytes == 0);
  CHECK(allocator.stats().peak_bytes == static_cast<int64_t>(3 * kMiB + 4200));
  allocator.reset_peak();
  CHECK(allocator.stats().peak_bytes == 0);
  allocator.release_unused();
  if (Allocator::caches()) CHECK(allocator.stats().reserved_bytes == 0);
}

TEST_CASE("allocator: what was freed joins, and serves a larger request", "[allocator]") {
  if (!Allocator::caches()) return;
  Allocator allocator(backend("reference"), 0);
  Held held(allocator);
  for (int i = 0; i < 8; ++i) held.take(kMiB);
  const int64_t reserved = allocator.stats().reserved_bytes, calls = allocator.stats().system_allocations;
  void* const first = held.blocks()[2].data;
  for (const size_t i : {size_t{2}, size_t{3}, size_t{2}}) held.give_back(i);  // 2, 4, then 3 between them
  CHECK(held.take(3 * kMiB) == first);
  CHECK(allocator.stats().reserved_bytes == reserved);
  CHECK(allocator.stats().system_allocations == calls);
  // The smallest gap that serves is taken, and the rest of it stays free.
  held.give_back(0);
  held.give_back(1);
  void* const small = held.take(kMiB / 2);
  void* const rest = held.take(kMiB / 2);
  CHECK(static_cast<std::byte*>(rest) == static_cast<std::byte*>(small) + kMiB / 2);
}

// A step as a net takes it: activations up, gradients down, all freed.
void step(Allocator& allocator, std::vector<void*>& places) {
  Held held(allocator);
  std::vector<size_t> sizes;
  for (int layer = 0; layer < 40; ++layer) sizes.push_back((static_cast<size_t>(layer * 7919 % 13) + 1) * 700001);
  for (const size_t bytes : sizes) places.push_back(held.take(bytes));
  for (size_t i = sizes.size(); i-- > 0;) {
    places.push_back(held.take(sizes[i]));
    places.push_back(held.take(sizes[i] / 50));
    held.give_back(i);
  }
}

TEST_CASE("allocator: a repeated step finds its places again", "[allocator]") {
  if (!Allocator::caches()) return;
  Allocator allocator(backend("reference"), 0);
  Held weights(allocator);
  for (int i = 0; i < 10; ++i) weights.take(static_cast<size_t>(i + 1) * 300001);
  std::vector<void*> first;
  step(allocator, first);
  const MemoryStats after = allocator.stats();
  CHECK(static_cast<double>(after.reserved_bytes) <= 1.15 * static_cast<double>(after.peak_bytes));
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<void*> again;
    step(allocator, again);
    CHECK(again == first);
  }
  CHECK(allocator.stats().reserved_bytes == after.reserved_bytes);
  CHECK(allocator.stats().system_allocations == after.system_allocations);
}

TEST_CASE("allocator: random requests", "[allocator]") {
  if (!Allocator::caches()) return;
  for (const uint32_t seed : {1, 2, 3}) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Allocator allocator(backend("reference"), 0);
    Held held(allocator);
    for (int i = 0; i < 200; ++i) {
      while (!held.blocks().empty() && random() % 2 == 0) held.give_back(random() % held.blocks().size());
      held.take(random() % (8 * kMiB) + 1);
    }
    const MemoryStats stats = allocator.stats();
    CHECK(static_cast<double>(stats.reserved_bytes) <= 1.3 * static_cast<double>(stats.peak_bytes));
  }
}

TEST_CASE("allocator: a limit is kept, and the error has the figures", "[allocator]") {
  Allocator allocator(backend("reference"), 0);
  if (Allocator::caches()) {
    allocator.set_limit(10 * kMiB);
    Held held(allocator);
    held.take(6 * kMiB);
    CHECK_THROWS_WITH(
        held.take(5 * kMiB),
        "[alloc] out of memory on reference: 5.0 MiB wanted, 6.0 MiB in use, 0.0 MiB cached, limit 10.0 MiB");
    held.take(4 * kMiB);
    held.give_back(1);
    held.give_back(0);
    held.take(9 * kMiB);
    CHECK(allocator.stats().reserved_bytes <= static_cast<int64_t>(10 * kMiB));
  }
  CHECK_THROWS_WITH(allocator.take(size_t{1} << 60), Contains("out of memory on reference") && Contains("wanted"));
  CHECK_THROWS_WITH(set_memory_limit(-1), Contains("got -1"));
}

TEST_CASE("allocator: segments of no use go back, also from between live blocks", "[allocator]") {
  if (!Allocator::caches()) return;
  Allocator allocator(backend("reference"), 0);
  Held held(allocator);
  for (int i = 0; i < 9; ++i) held.take(20 * kMiB);
  auto* const last = static_cast<std::byte*>(held.blocks().back().data);
  for (int i = 0; i < 7; ++i) held.give_back(1);  // the first and the last one stay
  const int64_t before = allocator.stats().reserved_bytes;
  allocator.release_unused();
  CHECK(allocator.stats().reserved_bytes < before - static_cast<int64_t>(80 * kMiB));
  last[0] = std::byte{1};
  for (int i = 0; i < 7; ++i) static_cast<std::byte*>(held.take(20 * kMiB))[5] = std::byte{2};
  CHECK(allocator.stats().allocated_bytes == static_cast<int64_t>(9 * 20 * kMiB));
}

TEST_CASE("allocator: meta only counts", "[allocator]") {
  Allocator allocator(backend("meta"), 0);
  Held held(allocator);
  CHECK(held.take(size_t{1} << 50) == nullptr);
  CHECK(allocator.stats().allocated_bytes == int64_t{1} << 50);
}

TEST_CASE("allocator: the error of a tensor names the layer's path", "[allocator]") {
  const int64_t before = memory_stats("reference").allocated_bytes;
  CHECK_THROWS_WITH(Tensor({1 << 30, 1 << 28}, DType::float64, "reference"),
                    Contains("[alloc] out of memory on reference"));
  CHECK(memory_stats("reference").allocated_bytes == before);
}

}  // namespace
}  // namespace dnn
