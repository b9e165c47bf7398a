// Catch2's main with an option: --device NAME makes that the device of tensors and modules that name none, and of what
// tests compute in double. "fake" is tests/fake_device.h's.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <string>

#include <kernels/backend.h>

#include "default_device.h"
#include "fake_device.h"

namespace {

// The device of all tests that name none.
void set_device(const std::string& name) {
  const dnn::Device device(name);
  dnn::set_default_device(device);
  if (device.backend().f64.binary.run) dnn::test::exact_device() = name;
}

}  // namespace

int main(int argc, char** argv) {
  Catch::Session session;
  std::string device = "cpu";
  session.cli(session.cli() | Catch::clara::Opt(device, "name")["--device"]("device of the tests' tensors"));
  if (const int fault = session.applyCommandLine(argc, argv)) return fault;
  dnn::test::add_fake_device();
  set_device(device);
  return session.run();
}
