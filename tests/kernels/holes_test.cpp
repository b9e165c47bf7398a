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

TEST_CASE("holes: every row has every float kernel, the reference also in double", "[holes]") {
  for (const Backend* row : backends()) {
    INFO(row->name);
    if (row->name != "meta") CHECK(holes(row->f32) == kMissing);
    CHECK(holes(row->raw) == kMissing);
  }
  CHECK(holes(reference_row().f64) == kMissing);
}

}  // namespace
}  // namespace dnn::test
