#include "../fake_device.h"

#include <bit>
#include <catch2/catch.hpp>
#include <csetjmp>
#include <csignal>
#include <thread>

#include <kernels/backend.h>
#include <libdnn/core/allocator.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/dnn.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using test::fake_synchronizations;
using test::fake_waiting;

sigjmp_buf fault;
void jump_back(int) { siglongjmp(fault, 1); }

// Whether reading the byte faults.
bool faults(const void* at) {
  struct sigaction jump {
  }, before{};
  jump.sa_handler = jump_back;
  sigaction(SIGSEGV, &jump, &before);
  volatile bool faulted = true;
  if (sigsetjmp(fault, 1) == 0) {
    static_cast<void>(*static_cast<const volatile char*>(at));
    faulted = false;
  }
  sigaction(SIGSEGV, &before, nullptr);
  return faulted;
}

TEST_CASE("fake device: its memory is not the host's, its kernels run when somebody waits", "[fake]") {
  const int64_t before = fake_synchronizations();
  Tensor y;
  {
    const Tensor x = tensor({1, -2, 3}, {3}, "fake");
    CHECK(faults(x.raw_data()));
    CHECK(reinterpret_cast<uintptr_t>(x.raw_data()) % 64 == 0);
    y = relu(x) + x;
    CHECK(fake_waiting() > 0);
  }
  CHECK(fake_synchronizations() == before);
  CHECK(y.to_vector<float>() == std::vector<float>{2, -2, 6});
  CHECK(fake_synchronizations() == before + 1);
  CHECK(faults(y.raw_data()));

  const Tensor there = y.to("fake:1");
  CHECK(there.device().name() == "fake:1");
  CHECK((there * 2).to("cpu").to_vector<float>() == std::vector<float>{4, -4, 12});
  CHECK_THROWS_WITH(there + y, Contains("one device"));
  CHECK_THROWS_WITH(Device("fake:2"), Contains("no device fake:2"));
  const Tensor number = tensor({3}, {}, "fake");
  CHECK(number.item() == 3);
  synchronize("fake");
}

TEST_CASE("fake device: kernels see their parameters as they were, and no memory of the host", "[fake]") {
  const Tensor x = tensor({1, 2}, {2}, "fake"), y(Shape{2}, DType::float32, "fake");
  Context& context = thread_context("fake");
  const Kernels<float>& k = context.backend.f32;
  {
    UnaryParams params{UnaryOp::square};
    k.unary_forward(context, params, 2, x.data<float>(), y.data<float>());
    params = {};
  }
  CHECK(y.to_vector<float>() == std::vector<float>{1, 4});
  float host[2] = {1, 2};
  CHECK_THROWS_WITH(k.unary_forward(context, {}, 2, host, y.data<float>()), Contains("[unary_forward]"));
  CHECK_THROWS_WITH(k.epilogue(context, {1, 2}, {.bias = host}, x.data<float>(), y.data<float>()),
                    Contains("[epilogue]"));
  const Tensor there = x.to("fake:1");
  CHECK_THROWS_WITH(k.unary_forward(context, {}, 2, there.data<float>(), y.data<float>()),
                    Contains("not the device's"));
}

TEST_CASE("fake device: streams go their own ways but for events", "[fake]") {
  const Device device = "fake";
  const DeviceApi& api = device.backend().device;
  const Tensor x(Shape{1}, DType::float32, device);
  Context &compute = thread_context(device), copies(device.backend(), 0, StreamKind::copy, &device.workspace_memory());
  const float two = 2;
  int orders[2] = {0, 0};
  for (int round = 0; round < 100; ++round) {
    const float one = 1;
    api.copy_from_host(copies, x.raw_data(), &one, sizeof one);
    compute.backend.raw.fill(compute, sizeof two, 1, std::bit_cast<uint32_t>(two), x.data<float>());
    synchronize(device);
    api.synchronize(copies);
    ++orders[x.item() == 1 ? 0 : 1];
  }
  CHECK(orders[0] > 0);
  CHECK(orders[1] > 0);
  for (int round = 0; round < 100; ++round) {
    const float one = 1;
    api.copy_from_host(copies, x.raw_data(), &one, sizeof one);
    Event* const copied = api.record(copies);
    api.wait(compute, copied);
    api.release(copied);
    compute.backend.raw.fill(compute, sizeof two, 1, std::bit_cast<uint32_t>(two), x.data<float>());
    synchronize(device);
    REQUIRE(x.item() == 2);
  }
}

// Memory that the copy stream has used goes back before it is done with it: what comes next in the compute stream
// waits.
TEST_CASE("workspace: counted, limited, and reused in the order of the streams", "[fake]") {
  const Device device = "fake:1";
  const DeviceApi& api = device.backend().device;
  constexpr size_t kBytes = size_t{4} << 20;
  WorkspaceMemory& memory = device.workspace_memory();
  Context copies(device.backend(), 1, StreamKind::copy, &memory);
  const int64_t held = memory_stats(device).workspace_bytes;
  for (int round = 0; round < 20; ++round) {
    const WorkspaceMemory::Block scratch = memory.take(kBytes);
    CHECK(memory_stats(device).workspace_bytes == held + static_cast<int64_t>(kBytes));
    if (Allocator::caches()) CHECK(memory_stats(device).reserved_bytes >= memory_stats(device).workspace_bytes);
    api.fill(copies, scratch.data, 0xFF, kBytes);
    memory.give_back(scratch, copies);
    CHECK(memory_stats(device).workspace_bytes == held);
    const Tensor next = full({static_cast<int>(kBytes / sizeof(float))}, 3, DType::float32, device);
    if (Allocator::caches()) CHECK(next.raw_data() == scratch.data);
    api.synchronize(copies);
    const std::vector<float> values = next.to_vector<float>();
    REQUIRE(std::all_of(values.begin(), values.end(), [](float value) { return value == 3; }));
  }
}

TEST_CASE("workspace: an error has the figures of the device", "[fake]") {
  if (!Allocator::caches()) return;  // nor does it limit
  const Device device = "fake:1";
  Context context(device.backend(), 1, StreamKind::compute, &device.workspace_memory());
  set_memory_limit(int64_t{200} << 20, device);
  const Tensor x = zeros({25 << 18}, DType::float32, device);
  {
    Workspace workspace(context);
    workspace.take<char>(int64_t{50} << 20);
    CHECK_THROWS_WITH(workspace.take<char>(int64_t{150} << 20), Contains("[alloc] out of memory on fake") &&
                                                                    Contains("150.0 MiB wanted") &&
                                                                    Contains("limit 200.0 MiB"));
    CHECK_THROWS_WITH(Tensor(Shape{150 << 18}, DType::float32, device), Contains("150.0 MiB wanted"));
  }
  set_memory_limit(0, device);
}

// A bad label is told with the first copy to the host, in the thread that met it, on its device.
TEST_CASE("status: a label that is no class is told when something is read", "[fake]") {
  const auto labels = [](const char* device, const std::vector<int32_t>& values) {
    return from_vector(values, {static_cast<int>(values.size())}, device);
  };
  const Tensor x = zeros({4, 10}, DType::float32, "fake");
  const Tensor loss = cross_entropy(x, labels("fake", {1, -100, 3, 12}));
  const Tensor log_loss = nll_loss(log_softmax(x), labels("fake", {10, 0, 3, 12}));  // the first fault stays
  CHECK(std::isfinite(cross_entropy(zeros({4, 10}, DType::float32, "fake:1"), labels("fake:1", {1, 2, 3, 9})).item()));
  std::thread([] { CHECK(zeros({}, DType::float32, "fake").item() == 0); }).join();
  CHECK_THROWS_WITH(log_loss.item(), "[cross_entropy] label 12 of sample 3 is outside 0..9");
  CHECK(std::isnan(loss.item()));  // told once
  CHECK(std::isfinite(cross_entropy(x, labels("fake", {1, 2, 3, 9})).item()));
  const Tensor again = nll_loss(log_softmax(x), labels("fake", {1, -7, 3, 12}));
  CHECK_THROWS_WITH(again.to("cpu"), "[nll_loss] label -7 of sample 1 is outside 0..9");

  // Optimizers stand still until then.
  const Tensor w = tensor({1}, {1}, "fake").requires_grad(true);
  SGD sgd({{"w", w}}, {.lr = 0.1});
  const auto step = [&] {
    w.set_grad(tensor({1}, {1}, "fake"));
    sgd.step();
  };
  cross_entropy(x, labels("fake", {1, 2, 3, 10}));
  step();
  CHECK_THROWS_WITH(w.to_vector<float>(), "[cross_entropy] label 10 of sample 3 is outside 0..9");
  CHECK(w.item() == 1);
  step();
  CHECK(w.item() == Approx(0.9));
}

}  // namespace
}  // namespace dnn
