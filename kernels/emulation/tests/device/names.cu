#include <catch2/catch.hpp>
#include <string>

#include "../../state.h"
#include "../runtime/host_support.h"

namespace names {

template <class T, bool kFlag>
__global__ void kernel(T) {}
__global__ void plain(int*, float (*)(int)) {}

}  // namespace names

namespace {

enum class Mode { first, second };
template <Mode kMode>
__global__ void local() {}

template <class... P>
std::string name_of(void (*kernel)(P...)) {
  return emu::kernel_name(reinterpret_cast<const void*>(kernel));
}

__attribute__((noinline)) uintptr_t caller() { return reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1; }

}  // namespace

TEST_CASE("names: kernels as their sources name them") {
  CHECK(name_of(names::plain) == "names::plain");
  CHECK(name_of(names::kernel<float, true>) == "names::kernel<float, true>");
  CHECK(name_of(local<Mode::second>) == "local<(Mode)1>");
  CHECK(emu::mangled_name(reinterpret_cast<const void*>(&names::plain)) == "_ZN5names5plainEPiPFfiE");
  CHECK(emu::kernel_name(nullptr) == "a kernel without a name");
}

TEST_CASE("names: the line of an address") {
  const int line = __LINE__ + 1;
  const uintptr_t here = caller();
  const emu::SourceLine place = emu::source_line(here);
  CHECK_THAT(place.file, Catch::EndsWith("device/names.cu"));
  CHECK(place.line == line);
  CHECK_THAT(emu::source_place(here), Catch::EndsWith("device/names.cu:" + std::to_string(line)));
  CHECK(emu::source_place(16) == "code at 0x10");
}
