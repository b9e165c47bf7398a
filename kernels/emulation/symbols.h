#pragma once
#include <cstdint>
#include <string>

namespace emu {

// The program or library that has some code, and the code's address as the file counts.
struct LoadedFile {
  std::string path;
  uintptr_t address = 0;
};
LoadedFile loaded_file(uintptr_t code_address);

}  // namespace emu
