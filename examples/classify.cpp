// What is on a picture: a net of the zoo, its weights, and the five classes that it holds most likely.
//
//   classify --model resnet18 --weights resnet18.safetensors --labels names.txt PICTURE...

#include <libdnn/dnn.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>

#include "options/command_line.h"

namespace {

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

void classify(const std::string& model, const std::string& weights, int classes, const std::vector<std::string>& names,
              const std::vector<std::string>& paths) {
  const dnn::ZooEntry& entry = dnn::zoo_entry(model);
  const std::shared_ptr<dnn::Module> net = entry.make(classes > 0 ? classes : entry.classes);
  dnn::load_weights(*net, weights);
  net->eval();                // dropout and batch norm as for use
  const dnn::NoGrad no_grad;  // records nothing, as nothing will be trained

  std::vector<dnn::Image> pictures;
  pictures.reserve(paths.size());
  for (const std::string& path : paths) pictures.push_back(dnn::read_image(path));
  const dnn::Tensor x = dnn::preprocess(pictures, entry.preprocessing);     // (N, H, W, C)
  const std::vector<float> p = dnn::softmax((*net)(x)).to_vector<float>();  // (N, classes)

  const size_t count = p.size() / paths.size();
  std::vector<size_t> order(count);
  for (size_t i = 0; i < paths.size(); ++i) {
    const float* of_picture = p.data() + i * count;
    const size_t top = std::min<size_t>(5, count);
    std::iota(order.begin(), order.end(), size_t{0});
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                      [&](size_t a, size_t b) { return of_picture[a] > of_picture[b]; });
    std::printf("%s\n", paths[i].c_str());
    for (size_t k = 0; k < top; ++k) {
      const std::string name = order[k] < names.size() ? names[order[k]] : "class " + std::to_string(order[k]);
      std::printf("  %6.2f %%  %s\n", 100 * of_picture[order[k]], name.c_str());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string model, weights, labels;
  int classes = 0;
  std::vector<std::string> pictures;
  CommandLine line("Says what is on pictures.");
  line.add_required("--model", model, "a net of the zoo");
  line.add_required("--weights", weights, "its weights");
  line.add("--classes", classes, "classes of the weights [those of the net]");
  line.add_path("--labels", labels, "names of the classes, one a line");
  line.add_paths("PICTURE", pictures, "JPEG, PNG or BMP");
  line.parse(argc, argv);
  try {
    classify(model, weights, classes, labels.empty() ? std::vector<std::string>() : read_lines(labels), pictures);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "classify: %s\n", error.what());
    return 1;
  }
}
