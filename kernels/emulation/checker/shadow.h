#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What the checker knows of each piece of memory that kernels share.
namespace emu::checker {

// A place in the code that loads or stores, by number; 0 is none.
using SiteId = uint16_t;

struct Access {
  uint32_t block = 0;  // the low bits of Position::block; 0 is none
  uint32_t time = 0;   // of the thread's warp: Clocks
  uint16_t barriers = 0;
  uint16_t thread = 0;
  SiteId site = 0;
  uint16_t other = 0;  // atomics: another thread, + 1, that had changed it since the last barrier
};

// For 4 bytes of memory, or for one where a word was not accessed as a whole.
struct Cell {
  Access write;               // the last one
  Access atomic;              // the last one since
  Access read;                // the last one since
  uint32_t lanes = 0;         // of its warp: those whose reads are not ordered before it, and itself
  uint32_t reader_block = 0;  // and a reader of another warp or block
  uint16_t reader_thread = 0;
  SiteId reader_site = 0;
  uint32_t parts = 0;  // where not 0: Region::parts has a cell for each byte
};
static_assert(sizeof(Cell) == 64);

// An allocation of global memory or a variable in shared memory.
struct Region {
  uintptr_t begin = 0;  // as kernels see it
  size_t bytes = 0;
  bool global = false;
  std::string name;
  uint32_t block = 0;     // shared memory: the one that has it now
  Cell* cells = nullptr;  // of calloc: pages never touched cost nothing
  size_t cell_count = 0;
  std::vector<uint64_t> written;  // a bit for each byte
  std::vector<std::array<Cell, 4>> parts;

  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();
  void set_bytes(size_t);
  bool contains(uintptr_t address, size_t count) const {
    return address - begin < bytes && count <= bytes - (address - begin);
  }
  bool is_written(size_t offset, size_t count) const;  // all of them
  void set_written(size_t offset, size_t count);
  void set_unwritten();
  std::string describe(uintptr_t address) const;
};

}  // namespace emu::checker
