#include <libdnn/core/device_status.h>

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include <kernels/backend.h>

namespace dnn {
namespace {

const char* name_of(LabelOp op) { return op == LabelOp::nll_loss ? "nll_loss" : "cross_entropy"; }

// A label of 64 bits that 32 don't hold arrives as the nearest that they do.
std::string words(int32_t label) {
  if (label == std::numeric_limits<int32_t>::max()) return fmt::format("{} or above", label);
  return label == std::numeric_limits<int32_t>::min() ? fmt::format("{} or below", label) : std::to_string(label);
}

// A bad label is told once; a loss that is not finite stays, so that optimizers stand still.
DeviceStatus read(Context& context) {
  DeviceStatus status;
  if (!context.status) return status;
  const DeviceApi& device = context.backend.device;
  device.copy_to_host(context, &status, context.status, sizeof status);
  context.status_pending = false;
  if (status.op == LabelOp::none) return status;
  device.fill(context, context.status, 0, sizeof status);
  throw Error(fmt::format("[{}] label {} of sample {} is outside 0..{}", name_of(status.op), words(status.label),
                          status.row, status.classes - 1));
}

}  // namespace

void check_labels(Context& context) {
  context.status_pending = true;
  if (context.backend.device.host_memory) read(context);
}

void check_pending_labels(Context& context) {
  if (context.status_pending) read(context);
}

DeviceStatus read_status(const Device& device) { return read(thread_context(device)); }

ScopedStatus::ScopedStatus(const Device& device)
    : memory_(zeros({static_cast<int>(sizeof(DeviceStatus))}, DType::uint8, device)),
      context_(thread_context(device)),
      before_(std::exchange(context_.status, static_cast<DeviceStatus*>(memory_.raw_data()))),
      pending_before_(std::exchange(context_.status_pending, false)) {}

ScopedStatus::~ScopedStatus() {
  context_.status = before_;
  context_.status_pending = pending_before_;
}

}  // namespace dnn
