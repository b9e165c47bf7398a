// Accesses to what is not there. (With AddressSanitizer, which would end the program, only those it does not know.)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "../../state.h"
#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

[[maybe_unused]] constexpr int kWrite = __LINE__ + 3;
[[maybe_unused]] __global__ void write_through(int* pointer, unsigned long offset) {
  const auto address = reinterpret_cast<unsigned long>(pointer) + offset;
  if (threadIdx.x == 3) *reinterpret_cast<volatile int*>(address) = 1;
}

__noinline__ int deep(volatile int* out, int depth) {
  volatile int large[256];
  large[depth % 256] = depth;
  return depth == 0 ? *out : deep(out, depth - 1) + large[depth % 256];
}

[[maybe_unused]] __global__ void recurse(int* out, int depth) { *out = deep(out, depth); }

[[maybe_unused]] __global__ void set(int* out) { *out = 8; }

// What a child process that runs this writes to standard error; it has to end by a signal.
template <class F>
std::string last_words(F run) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    signal(SIGSEGV, SIG_DFL);  // not Catch's, which would report a failed test
    emu::watch_signals();
    run();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status != 0);
  return text;
}

}  // namespace

#ifndef EMU_CHECKED
TEST_CASE("touching: a wild pointer ends the kernel and is an error that stays") {
  const ExpectFaults expect;
  launch(write_through, 1, 8, 0, nullptr, nullptr, 0xABCD000ul);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(fault_count() == 1);
  CHECK_THAT(first_fault(),
             Catch::Contains("write_through, block (0, 0, 0), thread (3, 0, 0): touches 0xabcd000, which "
                             "is in no allocation, at ") &&
                 Catch::EndsWith("touch.cu:" + std::to_string(kWrite)));
  // And again, and then all is well.
  clear_faults();
  launch(write_through, 1, 8, 0, nullptr, nullptr, 16ul);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  clear_faults();
  int* const out = device_array<int>(1);
  launch(set, 1, 1, 0, nullptr, out);
  CHECK(to_host(out, 1)[0] == 8);
  cudaFree(out);
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(EMU_CHECKED)
TEST_CASE("touching: memory far behind an allocation") {
  const ExpectFaults expect;
  int* const data = device_array<int>(10);
  launch(write_through, 1, 8, 0, nullptr, data, 5ul << 20);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK_THAT(first_fault(), Catch::Contains("byte 5242880 of an allocation of 40 bytes on device 0"));
  clear_faults();
  cudaFree(data);
}

TEST_CASE("touching: a thread that needs too much stack") {
  const ExpectFaults expect;
  int* const out = device_array<int>(1);
  launch(recurse, 1, 2, 0, nullptr, out, 1000);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK_THAT(first_fault(),
             Catch::Contains("the thread needs more than 65536 bytes of stack, at ") && Catch::Contains("touch.cu:"));
  clear_faults();
  cudaFree(out);
}
#endif

TEST_CASE("touching: device memory by the host ends the program") {
  int* const data = device_array<int>(10);
  const std::string text = last_words([data] { const_cast<volatile int*>(data)[2] = 1; });
  CHECK_THAT(text, Catch::Contains("emulation: the host touches device memory: 0x") &&
                       Catch::Contains("byte 8 of an allocation of 40 bytes on device 0"));
  cudaFree(data);
  CHECK_THAT(last_words([data] { const_cast<volatile int*>(data)[1] = 1; }),
             Catch::Contains("byte 4 of what was freed of 40 bytes"));
}
