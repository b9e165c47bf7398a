#include <libdnn/core/random.h>

#include <mutex>

namespace dnn {
namespace {

struct Stream {
  std::mutex mutex;
  RandomState next;
};

Stream& stream() {
  static Stream& stream = *new Stream;  // never destroyed
  return stream;
}

}  // namespace

void manual_seed(uint64_t seed) { set_random_state({seed, 0}); }

RandomState random_state() {
  const std::lock_guard lock(stream().mutex);
  return stream().next;
}

void set_random_state(RandomState state) {
  const std::lock_guard lock(stream().mutex);
  stream().next = state;
}

RandomState next_random() {
  const std::lock_guard lock(stream().mutex);
  const RandomState state = stream().next;
  ++stream().next.call;
  return state;
}

}  // namespace dnn
