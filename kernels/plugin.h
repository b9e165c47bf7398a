#pragma once
#include <string>
#include <vector>

namespace dnn {

struct Backend;

// Rows whose kernels are in shared libraries of their own, so that a program starts where what these need is missing.
// A library is opened when its row is asked for. It is looked for in the folder that DNN_PLUGINS names, else beside
// the library or program that holds this code, else in the folder that libdnn is installed in.
struct Plugin {
  std::string row;
  std::string library;  // file name
};
const std::vector<Plugin>& plugins();

// What the row knows of itself before its library is opened: its name.
Backend plugin_row(const Plugin&);

// Opens the library of the row, once, and fills the row in. Where that fails unavailable_because() says why. Does
// nothing for other rows.
void load_plugin(Backend& row);

// What a plug-in's library offers: fills the row's kernels, devices and memory. `size` is sizeof(Backend) of the
// program; a library of another build returns false and leaves the row as it is.
//   extern "C" bool dnn_plugin_row(size_t size, dnn::Backend* row);
using FillRow = bool (*)(size_t size, Backend* row);

}  // namespace dnn
