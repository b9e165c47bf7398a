#include <kernels/backend.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>

#include <kernels/cpu/gemm_methods.h>
#include <kernels/cpu/isa.h>
#include <kernels/meta.h>
#include <kernels/openblas.h>
#include <kernels/plugin.h>
#include <kernels/reference/reference.h>

namespace dnn {
namespace {

// Never destroyed: rows outlive the static variables of the program.
struct Rows {
  std::mutex mutex;
  std::vector<Backend*> list;
};

Rows& rows() {
  static Rows& rows = *[] {
    auto* const made = new Rows;
    made->list.push_back(new Backend(reference::make_backend()));
    for (const Backend& row : cpu::make_backends()) made->list.push_back(new Backend(row));
    made->list.push_back(new Backend(meta::make_backend()));
    for (const Plugin& plugin : plugins()) made->list.push_back(new Backend(plugin_row(plugin)));
    return made;
  }();
  return rows;
}

// Null where there is none of this name. Only its own library is opened.
const Backend* find_row(const std::string& name) {
  const std::lock_guard lock(rows().mutex);
  for (Backend* row : rows().list) {
    if (row->name != name) continue;
    load_plugin(*row);
    return row;
  }
  return nullptr;
}

}  // namespace

std::vector<const Backend*> backends() {
  const std::lock_guard lock(rows().mutex);
  for (Backend* row : rows().list) load_plugin(*row);
  return {rows().list.begin(), rows().list.end()};
}

void add_backend(const Backend& row) {
  const std::lock_guard lock(rows().mutex);
  for (const Backend* known : rows().list) {
    if (known->name == row.name) throw Error(fmt::format("[backend] there is a row '{}' already", row.name));
  }
  rows().list.push_back(new Backend(row));
}

bool available(const Backend& backend) { return backend.unavailable_because(backend).empty(); }

bool openblas_built() { return cpu::openblas_built(); }
std::string openblas_core() { return cpu::openblas_core(); }

const Backend& backend(const std::string& name) {
  if (name == "cpu") {
    static const std::string& chosen = *new std::string(cpu::best_row());
    return backend(chosen);
  }
  if (const Backend* row = find_row(name)) {
    if (available(*row)) return *row;
    throw Error(fmt::format("[device] {} {}", name, row->unavailable_because(*row)));
  }
  std::vector<std::string> names{"cpu"};
  for (const Backend* row : backends()) {
    if (available(*row)) names.push_back(row->name);
  }
  throw Error(fmt::format("[device] unknown device '{}'; available: {}", name, fmt::join(names, ", ")));
}

void detail::throw_missing_kernel(const char* name, bool float64, const Backend& backend) {
  const std::string row = &backend == &dnn::backend("cpu") ? "cpu" : backend.name;
  if (!float64) throw Error(fmt::format("[{}] no kernel on {}", name, row));
  throw Error(fmt::format("[{}] no float64 kernel on {}; the device reference has them", name, row));
}

}  // namespace dnn
