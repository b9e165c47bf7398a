#include <kernels/backend.h>

#include "rows.h"

namespace dnn::test {
namespace {

TEST_CASE("backend: rows by name", "[backend]") {
  std::vector<std::string> names;
  for (const Backend* row : backends()) {
    names.push_back(row->name);
    if (available(*row)) {
      CHECK(&backend(row->name) == row);
    } else {
      CHECK_THROWS_WITH(backend(row->name), "[device] " + row->name + " " + row->unavailable_because(*row));
      CHECK(row->unavailable_because(*row).substr(0, 6) == "needs ");
    }
  }
  names.resize(6);  // without those that were added
  CHECK(names ==
        std::vector<std::string>{"reference", "cpu_baseline", "cpu_avx2", "cpu_avx512", "meta", "cuda_emulated"});
  CHECK(available(backend("cpu")));
  CHECK(backend("cpu").name.substr(0, 4) == "cpu_");
}

TEST_CASE("backend: an unknown name is refused with the known ones", "[backend]") {
  std::string names = "cpu";
  for (const Backend* row : backends()) {
    if (available(*row)) names += ", " + row->name;
  }
  CHECK_THROWS_WITH(backend("gpu"), "[device] unknown device 'gpu'; available: " + names);
  CHECK_THROWS_AS(backend(""), Error);
}

// Its name is found from now on, as that of a row in a library that is loaded later.
TEST_CASE("backend: a row is added", "[backend]") {
  static bool unavailable = false;
  Backend row = reference_row();
  row.name = "added";
  row.device_count = [] { return 2; };
  row.unavailable_because = [](const Backend& r) {
    return unavailable ? "is " + r.name + " and rests" : std::string();
  };
  add_backend(row);
  CHECK(backend("added").device_count() == 2);
  CHECK_THROWS_WITH(add_backend(row), "[backend] there is a row 'added' already");
  unavailable = true;  // so that no other test meets it
  CHECK_THROWS_WITH(backend("added"), "[device] added is added and rests");
  CHECK_FALSE(available(*backends().back()));
}

TEST_CASE("backend: a missing kernel says what is missing where", "[backend]") {
  for (const Backend* row : backends()) {
    if (row->name != "cpu_avx2") continue;
    Context context(*row);
    CHECK_THROWS_WITH(row->f64.conv2d_forward(context, {}, nullptr, nullptr, {}, nullptr),
                      "[conv2d_forward] no float64 kernel on " + (row == &backend("cpu") ? "cpu" : row->name) +
                          "; the device reference has them");
  }
  Backend empty;
  empty.name = "empty";
  empty.device = reference_row().device;
  Context context(empty);
  CHECK_THROWS_WITH(empty.f64.gemm_packed_size(context, {}),
                    "[gemm_packed_size] no float64 kernel on empty; the device reference has them");
  CHECK_THROWS_WITH(empty.f32.gemm(context, {}, nullptr, nullptr, {}, nullptr), "[gemm] no kernel on empty");
  CHECK_THROWS_WITH(empty.raw.fill(context, 1, 1, 0, nullptr), "[fill] no kernel on empty");
}

TEST_CASE("backend: the catalogue in its order", "[backend]") {
  Kernels<float> kernels;
  std::vector<std::string> names;
  for_each_kernel(kernels, [&](const auto& entry) {
    names.push_back(entry.name);
    CHECK(entry.run == nullptr);
  });
  REQUIRE(names.size() > 30);
  CHECK(names.front() == "gemm");
  CHECK(names[1] == "gemm_pack_b");
  CHECK(names.back() == "sgd_step");
}

TEST_CASE("backend: memory of every row", "[backend]") {
  for (const Backend* row : rows()) {
    INFO(row->name);
    const DeviceApi& device = row->device;
    Context context(*row);
    const int64_t before = device.allocations();
    auto *a = static_cast<float*>(device.alloc(0, 4000, nullptr)),
         *b = static_cast<float*>(device.alloc(0, 4000, nullptr));
    CHECK(device.allocations() == before + 2);
    CHECK(reinterpret_cast<uintptr_t>(a) % 64 == 0);
    CHECK(reinterpret_cast<uintptr_t>(b) % 64 == 0);
    const auto values = Buffer<float>::random(1000, 1);
    Buffer<float> back(1000);
    device.copy_from_host(context, a, values.get(), 4000);
    device.copy(context, b, a, 4000);
    device.synchronize(context);
    device.copy_to_host(context, back.get(), b, 4000);
    back.check_guards();
    CHECK((back.values() == values.values()));
    device.copy(context, b, a, 0);
    device.free(0, a, 4000);
    device.free(0, b, 4000);
    device.free(0, device.alloc(0, 0, nullptr), 0);
  }
}

TEST_CASE("meta: kernels do nothing on memory that isn't there", "[backend]") {
  const Backend& meta = backend("meta");
  Context context(meta);
  const int64_t before = meta.device.allocations();
  void* data = meta.device.alloc(0, size_t{1} << 50, nullptr);
  CHECK(data == nullptr);
  CHECK(meta.device.allocations() == before + 1);
  Kernels<float> kernels = meta.f32;
  for_each_kernel(kernels, [](const auto& entry) {
    INFO(entry.name);
    CHECK(entry.run != nullptr);
  });
  meta.f32.gemm(context, {1000, 1000, 1000}, nullptr, nullptr, {}, nullptr);
  RawKernels raw = meta.raw;
  for_each_kernel(raw, [](const auto& entry) {
    INFO(entry.name);
    CHECK(entry.run != nullptr);
  });
  meta.raw.fill(context, 8, int64_t{1} << 40, 1, nullptr);
  float value = 0;
  CHECK_THROWS_WITH(meta.device.copy_to_host(context, &value, data, 4),
                    "[copy_to_host] a tensor on meta has no values to read");
  meta.device.free(0, data, size_t{1} << 50);
}

// Hidden, for tests/run.sh --qemu: only right on a CPU that has neither AVX2 nor AVX-512.
TEST_CASE("backend: without AVX only the baseline is available", "[.nehalem]") {
  for (const Backend* row : backends()) {
    if (row->kind == DeviceKind::host) CHECK(available(*row) == (row->name != "cpu_avx2" && row->name != "cpu_avx512"));
  }
  CHECK(backend("cpu").name == "cpu_baseline");
}

}  // namespace
}  // namespace dnn::test
