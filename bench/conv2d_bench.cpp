// The convolutions of conv_shapes.csv, forward (also with packed weights) and both gradients, on every CPU row.
// --batch=N, 32 unless given. Names: conv2d_forward/googlenet:conv2.conv/cpu_avx2. compare.py runs this program beside
// PyTorch.
#include <bench/machine.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace dnn::bench {
namespace {

struct Layer {
  std::string name;  // net:layer
  Conv2dShape shape;
};

// name,c,h,w,k,r,s,stride_h,stride_w,pad_h,pad_w,dilation,groups
Layer parse(const std::string& line, int batch) {
  std::istringstream fields(line);
  Layer layer;
  std::getline(fields, layer.name, ',');
  Conv2dShape& x = layer.shape;
  x.n = batch;
  char comma;
  fields >> x.c >> comma >> x.h >> comma >> x.w >> comma >> x.k >> comma >> x.r >> comma >> x.s >> comma >>
      x.stride_h >> comma >> x.stride_w >> comma >> x.pad_top >> comma >> x.pad_left >> comma >> x.dilation_h >>
      comma >> x.groups;
  if (!fields) throw Error(fmt::format("[conv2d_bench] a line needs a name and 12 numbers; got '{}'", line));
  x.pad_bottom = x.pad_top;
  x.pad_right = x.pad_left;
  x.dilation_w = x.dilation_h;
  x.check();
  return layer;
}

std::vector<Layer> read_layers(const std::string& path, int batch) {
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("[conv2d_bench] cannot open {}", path));
  std::vector<Layer> layers;
  std::string line;
  bool header = true;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (!header) layers.push_back(parse(line, batch));
    header = false;
  }
  return layers;
}

// Operands of one layer; made for each benchmark, so that memory holds one layer at a time.
struct Operands {
  Operands(const Backend& row, const Conv2dShape& shape)
      : context(row),
        x(row, shape.x_pixels() * shape.c, 1),
        w(row, shape.w_count(), 2),
        y(row, shape.y_pixels() * shape.k, 3),
        bias(row, shape.k, 4),
        packing(row.f32.conv2d_packing(context, shape)),
        packed(row, packing.count) {
    row.f32.conv2d_pack_weight(context, shape, packing, w.get(), packed.get());
  }
  Context context;
  Array x, w, y, bias;
  Conv2dPacking packing;
  Array packed;
};

// One kernel on one layer, where the row has it.
template <class Kernel, class Call>
void add_layer(const Kernel& kernel, const Backend& row, const Layer& layer, Call call) {
  if (!kernel.run) return;
  add(std::string(kernel.name) + "/" + layer.name + "/" + row.name,
      [&kernel, &row, shape = layer.shape, call](benchmark::State& state) {
        Operands o(row, shape);
        measure(state, o.context, shape.flops(), static_cast<double>(shape.bytes(4)), [&] { call(kernel, shape, o); });
      });
}

}  // namespace

void register_benchmarks(int batch) {
  const std::vector<Layer> layers = read_layers(DNN_BENCH_DIR "/conv_shapes.csv", batch);
  for (const Backend* row : cpu_rows()) {
    for (const Layer& layer : layers) {
      add_layer(row->f32.conv2d_forward, *row, layer, [](const auto& kernel, const Conv2dShape& shape, Operands& o) {
        kernel(o.context, shape, o.x.get(), o.w.get(), {o.bias.get(), nullptr, Activation::none}, o.y.get());
      });
      add_layer(row->f32.conv2d_forward_packed, *row, layer,
                [](const auto& kernel, const Conv2dShape& shape, Operands& o) {
                  kernel(o.context, shape, o.packing, o.x.get(), o.packed.get(),
                         {o.bias.get(), nullptr, Activation::none}, o.y.get());
                });
      add_layer(row->f32.conv2d_backward_input, *row, layer,
                [](const auto& kernel, const Conv2dShape& shape, Operands& o) {
                  kernel(o.context, shape, o.y.get(), o.w.get(), o.x.get());
                });
      add_layer(row->f32.conv2d_backward_weight, *row, layer,
                [](const auto& kernel, const Conv2dShape& shape, Operands& o) {
                  kernel(o.context, shape, o.x.get(), o.y.get(), o.w.get());
                });
    }
  }
}

}  // namespace dnn::bench
