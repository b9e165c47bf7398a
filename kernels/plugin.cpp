#include <kernels/plugin.h>

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include <kernels/backend.h>

namespace dnn {
namespace {

// By row: why its library could not be used, empty where it could. Never destroyed, as rows are not.
struct Loaded {
  std::recursive_mutex mutex;
  std::map<std::string, std::string> reason;
};

Loaded& loaded() {
  static Loaded& loaded = *new Loaded;
  return loaded;
}

std::string reason_of(const Backend& row) {
  const std::lock_guard lock(loaded().mutex);
  const auto found = loaded().reason.find(row.name);
  return found == loaded().reason.end() ? "has not been opened" : found->second;
}

// The folder of the library or program that this code is in.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &info) || !info.dli_fname) return {};
  std::error_code error;
  return std::filesystem::canonical(info.dli_fname, error).parent_path();
}

std::vector<std::filesystem::path> folders() {
  if (const char* asked = std::getenv("DNN_PLUGINS")) return {asked};
  return {own_folder(), DNN_LIBRARY_FOLDER};
}

std::string dl_error() {
  const char* const text = dlerror();
  return text ? text : "unknown error";
}

// Empty, or why the row stays empty.
std::string open_library(const std::string& library, Backend& row) {
  for (const std::filesystem::path& folder : folders()) {
    const std::filesystem::path file = folder / library;
    std::error_code error;
    if (!std::filesystem::exists(file, error)) continue;
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return fmt::format("needs {}, which can't be opened: {}", library, dl_error());
    const auto fill = reinterpret_cast<FillRow>(dlsym(handle, "dnn_plugin_row"));
    if (!fill) return fmt::format("needs {}, which is no plug-in of libdnn: {}", library, dl_error());
    if (!fill(sizeof(Backend), &row)) return fmt::format("needs the {} of this version of libdnn", file.string());
    return {};
  }
  return fmt::format("needs {}, which is neither beside libdnn nor where DNN_PLUGINS says", library);
}

}  // namespace

const std::vector<Plugin>& plugins() {
  static const std::vector<Plugin>& list = *new std::vector<Plugin>{{"cuda_emulated", "libdnn_cuda_emulated.so"}};
  return list;
}

Backend plugin_row(const Plugin& plugin) {
  Backend row;
  row.name = plugin.row;
  row.kind = DeviceKind::accelerator;
  row.device_count = [] { return 0; };
  row.unavailable_because = reason_of;
  return row;
}

void load_plugin(Backend& row) {
  for (const Plugin& plugin : plugins()) {
    if (plugin.row != row.name) continue;
    const std::lock_guard lock(loaded().mutex);
    if (loaded().reason.contains(row.name)) return;
    loaded().reason[row.name] = open_library(plugin.library, row);
  }
}

}  // namespace dnn
