// Shapes, parameters and random numbers in a kernel of a device: compiled by tests/nvcc_test.sh, and run where there is
// a device. The device's answers are compared with the host's.
#include <cstdio>

#include <kernels/device_status.h>
#include <kernels/epilogue.h>
#include <kernels/params.h>
#include <kernels/philox.h>
#include <kernels/shapes.h>

namespace {

struct Answers {
  double number[16];
};

DNN_HOST_DEVICE Answers answer(const dnn::Conv2dShape& conv, const dnn::Pool2dShape& pool, const dnn::GemmShape& gemm,
                               const dnn::BroadcastShape& broadcast, const dnn::Pad2dShape& pad, dnn::RandomState state) {
  const dnn::PhiloxBlock block = dnn::philox_block(state, 5);
  dnn::DeviceStatus status;
  status.set_label(dnn::LabelOp::nll_loss, 3, 12, 10);
  status.set_loss(4, 1);
  return {{static_cast<double>(conv.oh()), static_cast<double>(conv.ow()), conv.flops(),
           static_cast<double>(conv.y_pixels()), static_cast<double>(pool.oh()), static_cast<double>(pool.ow()),
           static_cast<double>(pool.bytes(4)), static_cast<double>(gemm.b_pitch()), gemm.flops(),
           static_cast<double>(broadcast.size[1]), static_cast<double>(pad.back().oh()),
           static_cast<double>(dnn::philox_uniform(block.word[1])), static_cast<double>(dnn::philox_half(block, 3)),
           static_cast<double>(dnn::dropout_threshold(0.3f)),
           static_cast<double>(dnn::slope_from_output(dnn::Activation::gelu)),
           static_cast<double>(status.ok() ? 0 : status.label + 100 * status.step)}};
}

__global__ void answer_kernel(dnn::Conv2dShape conv, dnn::Pool2dShape pool, dnn::GemmShape gemm,
                              dnn::BroadcastShape broadcast, dnn::Pad2dShape pad, dnn::SgdParams sgd,
                              dnn::RandomState state, Answers* answers) {
  *answers = answer(conv, pool, gemm, broadcast, pad, state);
  answers->number[0] += sgd.lr;
}

}  // namespace

int main() {
  dnn::Conv2dShape conv{.n = 2, .h = 9, .w = 7, .c = 4, .k = 8, .r = 3, .s = 3, .stride_h = 2, .pad_top = 1};
  dnn::Pool2dShape pool{.n = 1, .h = 22, .w = 23, .c = 3, .r = 3, .s = 3, .stride_h = 2, .stride_w = 2};
  pool.ceil_mode = true;
  const dnn::GemmShape gemm{.m = 3, .n = 4, .k = 5, .trans_b = true};
  dnn::BroadcastShape broadcast;
  broadcast.dims = 2;
  broadcast.size[1] = 17;
  const dnn::Pad2dShape pad{1, 5, 6, 2, 1, 2, 3, 4};
  const dnn::RandomState state{123, 45};
  Answers expected = answer(conv, pool, gemm, broadcast, pad, state), got{};
  expected.number[0] += 0.5;
  Answers* answers = nullptr;
  if (cudaMalloc(&answers, sizeof got) != cudaSuccess) {
    std::puts("no device to run it on");
    return 0;
  }
  answer_kernel<<<1, 1>>>(conv, pool, gemm, broadcast, pad, {.lr = 0.5}, state, answers);
  if (cudaMemcpy(&got, answers, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) {
    std::puts("the kernel failed");
    return 1;
  }
  for (int i = 0; i < 16; ++i) {
    if (got.number[i] == expected.number[i]) continue;
    std::printf("answer %d: %g instead of %g\n", i, got.number[i], expected.number[i]);
    return 1;
  }
  std::puts("the device's answers are the host's");
  return 0;
}
