#pragma once
#include <string>
#include <type_traits>
#include <vector>

#include <kernels/catalogue.h>
#include <kernels/device_api.h>
#include <kernels/error.h>

namespace dnn {

// A row: where tensors can live, and the kernels that compute there.
struct Backend {
  std::string name;
  DeviceKind kind = DeviceKind::host;
  Kernels<float> f32;
  Kernels<double> f64;
  RawKernels raw;
  DeviceApi device;
  int (*device_count)() = [] { return 1; };
  // "needs AVX2, which this CPU lacks"; empty where the row can be used.
  std::string (*unavailable_because)(const Backend&) = [](const Backend&) { return std::string(); };
  int variant = 0;  // which of several compiled forms of the kernels the row runs (kernels/cpu/isa.h)

  template <class T>
  const Kernels<T>& kernels() const {
    if constexpr (std::is_same_v<T, double>) {
      return f64;
    } else {
      return f32;
    }
  }
};

// Every row, those that this machine can't run included: reference, cpu_baseline, cpu_avx2, cpu_avx512, meta, and what
// was added.
std::vector<const Backend*> backends();

// Makes a row known to backend(); it stays for the rest of the program. Error for a name that there is already.
void add_backend(const Backend& row);

// A row by name; "cpu" is the best one that this machine has, or DNN_ISA's (baseline, avx2, avx512). Throws Error for
// an unknown name and for a row that this machine can't run, also when DNN_ISA asks for it.
const Backend& backend(const std::string& name);

bool available(const Backend& backend);  // whether this machine can run it

}  // namespace dnn
