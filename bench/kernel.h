#pragma once
#include <bench/machine.h>

#include <memory>
#include <string>
#include <vector>

namespace dnn::bench {

// The kernel f(context, kernels, arrays) over `arrays` of so many values, `traffic` values read and written.
template <class F>
void add_kernel(const std::string& name, std::vector<int64_t> arrays, double traffic, F&& f) {
  for (const Backend* row : cpu_rows()) {
    add(name + "/" + row->name, [=](benchmark::State& state) {
      Context context(*row);
      std::vector<std::unique_ptr<Array>> owned;
      std::vector<float*> pointers;
      for (size_t i = 0; i < arrays.size(); ++i) {
        owned.push_back(std::make_unique<Array>(*row, arrays[i], static_cast<uint32_t>(i + 1)));
        pointers.push_back(owned.back()->get());
      }
      measure(state, context, 0, 4 * traffic, [&] { f(context, row->f32, pointers); });
    });
  }
}

using Arrays = const std::vector<float*>&;
using Table = const Kernels<float>&;

}  // namespace dnn::bench
