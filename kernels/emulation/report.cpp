#include <cstdarg>
#include <cstdio>
#include <string>

#include "block.h"
#include "state.h"

namespace emu {
namespace {

int faults;
bool print_faults = true;
cudaError_t sticky = cudaSuccess;
thread_local cudaError_t last = cudaSuccess;

std::string& first_text() {
  static auto& text = *new std::string;  // faults may come as the program ends
  return text;
}

std::string text_of(uint3 index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ")";
}

std::string running_place() {
  if (!position.kernel) return {};
  std::string place = kernel_name(position.kernel) + ", block " + block_name();
  if (position.thread >= 0) place += ", thread " + text_of(block_threads[position.thread].index);
  return place + ": ";
}

}  // namespace

std::recursive_mutex& model_mutex() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

void fault(cudaError_t error, const char* format, ...) {
  const std::lock_guard lock(model_mutex());
  const ModelCode in_model;
  if (error != cudaSuccess && sticky == cudaSuccess) sticky = error;
  if (faults++ > 0) return;  // a kernel can have millions
  char text[1024];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  first_text() = running_place() + text;
  if (print_faults) std::fprintf(stderr, "emulation: %s\n", first_text().c_str());
}

cudaError_t refuse(cudaError_t error) {
  last = error;
  return error;
}

bool has_sticky_error() { return sticky != cudaSuccess; }

cudaError_t sticky_error() { return sticky; }

void clear_errors() {
  const std::lock_guard lock(model_mutex());
  sticky = last = cudaSuccess;
}

std::string block_name() { return text_of(blockIdx); }

int fault_count() {
  const std::lock_guard lock(model_mutex());
  return faults;
}

std::string first_fault() {
  const std::lock_guard lock(model_mutex());
  return first_text();
}

void clear_faults() {
  const std::lock_guard lock(model_mutex());
  faults = 0;
  first_text().clear();
  clear_errors();
}

void set_print_faults(bool on) {
  const std::lock_guard lock(model_mutex());
  print_faults = on;
}

cudaError_t cudaGetLastError() {
  const std::lock_guard lock(model_mutex());
  const cudaError_t result = cudaPeekAtLastError();
  last = cudaSuccess;
  return result;
}

cudaError_t cudaPeekAtLastError() {
  const std::lock_guard lock(model_mutex());
  return sticky != cudaSuccess ? sticky : last;
}

}  // namespace emu
