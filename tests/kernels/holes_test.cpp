#include "rows.h"

namespace dnn::test {
namespace {

template <class Table>
std::vector<std::string> holes(Table kernels) {
  std::vector<std::string> names;
  for_each_kernel(kernels, [&](const auto& entry) {
    if (!entry.run) names.push_back(entry.name);
  });
  return names;
}

// Kernels of the catalogue that no row has yet.
const std::vector<std::string> kMissing{};

template <class Table>
std::vector<std::string> present(Table kernels) {
  std::vector<std::string> names;
  for_each_kernel(kernels, [&](const auto& entry) {
    if (entry.run) names.push_back(entry.name);
  });
  return names;
}

TEST_CASE("holes: every row has every float kernel, the reference also in double", "[holes]") {
  for (const Backend* row : backends()) {
    INFO(row->name);
    if (row->name == "cuda_emulated") continue;
    if (row->name != "meta") CHECK(holes(row->f32) == kMissing);
    CHECK(holes(row->raw) == kMissing);
  }
  CHECK(holes(reference_row().f64) == kMissing);
}

TEST_CASE("holes: the kernels that CUDA has", "[holes]") {
  const Backend& row = backend("cuda_emulated");
  CHECK(present(row.f32) == std::vector<std::string>{"gemm", "unary_forward", "unary_backward", "binary"});
  CHECK(present(row.raw) == std::vector<std::string>{"copy_strided", "fill"});
}

}  // namespace
}  // namespace dnn::test
