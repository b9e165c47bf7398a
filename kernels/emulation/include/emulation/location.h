#pragma once

namespace emu {

// A place in a source, as a default argument of what wants to know its caller. clang++ 14 with libstdc++ has no
// std::source_location.
struct Location {
  const char* file;
  unsigned line;

  static constexpr Location current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace emu
