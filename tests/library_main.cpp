// Catch2's main with an option: --device NAME makes that the device of tensors and modules that name none, and of what
// tests compute in double. "fake" is tests/fake_device.h's.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <string>

#include "default_device.h"
#include "fake_device.h"

int main(int argc, char** argv) {
  Catch::Session session;
  std::string device = "cpu";
  session.cli(session.cli() | Catch::clara::Opt(device, "name")["--device"]("device of the tests' tensors"));
  if (const int fault = session.applyCommandLine(argc, argv)) return fault;
  dnn::test::add_fake_device();
  dnn::test::set_device(device);
  return session.run();
}
