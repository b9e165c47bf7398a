#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include <libdnn/dnn.h>

#include "../files.h"

namespace dnn {
namespace {

TEST_CASE("operations and files after main() has returned", "[static_end]") {
  const TemporaryFolder folder;
  const std::string prefix = folder.path("net_");
  const std::string command = std::string(DNN_STATIC_END) + " '" + prefix + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  for (const char* name : {"main", "thread", "thread_local", "before", "after", "static"}) {
    INFO(name);
    Sequential net(Conv2d(1, 4, 3), BatchNorm2d(4), ReLU(), Dropout(0.1), Flatten(), Linear(4 * 6 * 6, 3));
    load_weights(net, prefix + name + ".safetensors");
    CHECK(net.child("1").buffer("num_batches_tracked").item() >= 3);
    for (const NamedTensor& t : net.named_parameters()) {
      for (const float value : t.tensor.to_vector<float>()) {
        if (!std::isfinite(value)) FAIL(t.name << " holds " << value);
      }
    }
  }
}

}  // namespace
}  // namespace dnn
