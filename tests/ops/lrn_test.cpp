#include "ops_test.h"

#include <libdnn/ops/lrn.h>

namespace dnn::test {
namespace {

TEST_CASE("local_response_norm op: value and gradients", "[ops]") {
  // N is not C, so that a mix-up would show.
  check_values(local_response_norm(leaf64({1, 2, 3, 1, 2, 3}, {2, 3}), 7, 1),
               {0.4386913, 0.8773827, 1.3160740, 0.4386913, 0.8773827, 1.3160740});
  for (const int size : {2, 3, 5, 9}) {
    check_op([size](const TensorList& t) { return TensorList{local_response_norm(t[0], size, 2, 0.75, 1.5)}; },
             {random64({2, 3, 2, 7}, 1)});
    check_op([size](const TensorList& t) { return TensorList{local_response_norm(t[0], size, 2, 0.6)}; },
             {random64({2, 3, 2, 7}, 1)});
  }
  check_empty([](const TensorList& t) { return TensorList{local_response_norm(t[0], 5)}; }, {random64({0, 2, 2, 3}, 1)},
              {0, 2, 2, 3});
}

TEST_CASE("local_response_norm op: bad input", "[ops]") {
  CHECK_THROWS_WITH(local_response_norm(random64({2, 3}, 1), 0),
                    Contains("[local_response_norm] size must be at least 1"));
  CHECK_THROWS_WITH(local_response_norm(random64({2, 0}, 1), 5), Contains("last dimension"));
  CHECK_THROWS_WITH(local_response_norm(Tensor({2, 3}, DType::int32), 5), Contains("int32"));
}

}  // namespace
}  // namespace dnn::test
