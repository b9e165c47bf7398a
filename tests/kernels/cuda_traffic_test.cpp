#include <dlfcn.h>

#include <cstdlib>

#include <kernels/plugin.h>

#include "rows.h"

// What the CUDA kernels move, as the checked build of the model counts it: no line of theirs moves more than 1.25 times
// what it needs, on operands that begin as tensors do, unless it says why. Run by tests/run.sh with that build.
namespace dnn::test {
namespace {

// Of the kernels since the last call, a line each.
std::string wasteful_lines() {
  const std::string file = std::string(std::getenv("DNN_PLUGINS")) + "/libdnn_cuda_emulated.so";
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(library);
  const auto call = reinterpret_cast<const char* (*)()>(dlsym(library, "dnn_plugin_wasteful_lines"));
  REQUIRE(call);
  const char* const lines = call();
  REQUIRE(lines);  // null: DNN_PLUGINS names another build
  return lines;
}

const Backend& cuda_row() {
  for (const Backend* row : rows()) {
    if (row->name == "cuda_emulated") return *row;
  }
  throw Error("no cuda_emulated");
}

TEST_CASE("cuda traffic: functions and arithmetic", "[.cuda_traffic]") {
  const Backend& row = cuda_row();
  Context context(row);
  wasteful_lines();
  const int count = 1 << 14;
  const auto x = Buffer<float>::random(count, 1), b = Buffer<float>::random(count, 2);
  Buffer<float> y(count);
  for (const UnaryOp op : {UnaryOp::relu, UnaryOp::gelu, UnaryOp::exp, UnaryOp::affine}) {
    row.f32.unary_forward(context, {op, 2, 1}, count, x.get(), y.get());
    row.f32.unary_backward(context, {op, 2, 1}, count, x.get(), b.get(), y.get());
  }
  const int same[] = {128, 128}, one_row[] = {1, 128}, one_column[] = {128, 1}, one[] = {1, 1};
  for (const int* other : {same, one_row, one_column, one}) {
    const BroadcastShape shape = BroadcastShape::of(same, 2, other, 2);
    row.f32.binary(context, BinaryOp::add, shape, x.get(), b.get(), y.get());
  }
  CHECK(wasteful_lines() == "");
}

TEST_CASE("cuda traffic: copies and fills", "[.cuda_traffic]") {
  const Backend& row = cuda_row();
  Context context(row);
  wasteful_lines();
  for (const int element : {1, 2, 4, 8}) {
    const int64_t count = 128 * 128;
    const auto x = Buffer<uint8_t>::random(count * element, 1);
    Buffer<uint8_t> y(count * element);
    row.raw.copy_strided(context, {1, {count}, {1}, {1}}, element, x.get(), y.get());
    row.raw.copy_strided(context, {2, {128, 128}, {1, 128}, {128, 1}}, element, x.get(), y.get());
    row.raw.copy_strided(context, {2, {64, 128}, {256, 1}, {128, 1}}, element, x.get(), y.get());
    row.raw.fill(context, element, count, 0x3F800000, y.get());
  }
  CHECK(wasteful_lines() == "");
}

TEST_CASE("cuda traffic: products", "[.cuda_traffic]") {
  const Backend& row = cuda_row();
  Context context(row);
  wasteful_lines();
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      for (const int size : {64, 256}) {
        const GemmShape shape{.m = size, .n = size, .k = 64, .trans_a = trans_a, .trans_b = trans_b};
        const auto a = Buffer<float>::random(size * 64, 1), b = Buffer<float>::random(size * 64, 2);
        const auto bias = Buffer<float>::random(size, 3);
        Buffer<float> c(int64_t{size} * size);
        row.f32.gemm(context, shape, a.get(), b.get(), {bias.get(), nullptr, Activation::relu}, c.get());
      }
    }
  }
  CHECK(wasteful_lines() == "");
}

}  // namespace
}  // namespace dnn::test
