#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

struct SummaryArguments {
  std::string model, json;
  int batch = 1;
  int classes = 0;
  std::vector<int> size;
};

std::string mib(int64_t bytes) { return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1 << 20)); }

nlohmann::ordered_json to_json(const SummaryArguments& a, const Shape& input, const Summary& s) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const LayerSummary& l : s.layers) {
    layers.push_back({{"name", l.name},
                      {"type", l.type},
                      {"output", std::vector<int>(l.output.begin(), l.output.end())},
                      {"parameters", l.parameters},
                      {"flops", l.flops},
                      {"output_bytes", l.output_bytes}});
  }
  return {{"model", a.model},
          {"input", std::vector<int>(input.begin(), input.end())},
          {"layers", layers},
          {"parameters", s.parameters},
          {"flops", s.flops},
          {"training_flops", s.training_flops},
          {"weights_bytes", s.weights_bytes},
          {"input_bytes", s.input_bytes},
          {"inference_peak_bytes", s.inference_peak_bytes},
          {"kept_bytes", s.kept_bytes},
          {"training_peak_bytes", s.training_peak_bytes}};
}

// Columns as wide as what is in them; the first three stand left, numbers right.
void print_table(const std::vector<LayerSummary>& layers) {
  using Row = std::array<std::string, 6>;
  std::vector<Row> rows{{"layer", "type", "output", "parameters", "MFLOP", "MiB"}};
  for (const LayerSummary& l : layers) {
    if (l.name.empty()) continue;  // the net itself
    rows.push_back({l.name, l.type, l.output.str(), std::to_string(l.parameters), fmt::format("{:.2f}", l.flops * 1e-6),
                    fmt::format("{:.3f}", static_cast<double>(l.output_bytes) / (1 << 20))});
  }
  std::array<size_t, 6> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      line += (i > 0 ? " " : "") + (i < 3 ? row[i] + blanks : blanks + row[i]);
    }
    fmt::print("{}\n", line);
  }
}

int run(const SummaryArguments& a) {
  const ZooEntry& entry = zoo_entry(a.model);
  const Shape input{a.batch, a.size.empty() ? entry.height : a.size[0], a.size.empty() ? entry.width : a.size[1],
                    entry.channels};
  set_default_device("meta");
  const std::shared_ptr<Module> net = entry.make(a.classes > 0 ? a.classes : entry.classes);
  const Summary s = summarize(*net, input);
  fmt::print("{} on {} (N, H, W, C)\n\n", a.model, input.str());
  print_table(s.layers);
  fmt::print("\nparameters                 {}\n", s.parameters);
  fmt::print("forward                    {:.3f} GFLOP\n", s.flops * 1e-9);
  fmt::print("training step              {:.3f} GFLOP\n", s.training_flops * 1e-9);
  fmt::print("weights                    {}\n", mib(s.weights_bytes));
  fmt::print("input                      {}\n", mib(s.input_bytes));
  fmt::print("kept for backward          {}\n", mib(s.kept_bytes));
  fmt::print("peak of inference          {}\n", mib(s.inference_peak_bytes));
  fmt::print("peak of a training step    {} (SGD with momentum)\n", mib(s.training_peak_bytes));
  write_json(a.json, to_json(a, input, s));
  return 0;
}

}  // namespace

Command add_summary(CLI::App& app) {
  const auto a = std::make_shared<SummaryArguments>();
  add_model_option(app, a->model);
  app.add_option("--batch", a->batch, "pictures at a time")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1));
  app.add_option("--size", a->size, "height and width of the pictures [the net's own]")
      ->type_name("N")
      ->expected(2)
      ->check(whole_number(1));
  app.add_option("--classes", a->classes, "classes [the net's own]")->type_name("N")->check(whole_number(1));
  add_json_option(app, a->json, "also write it to this file");
  return [a] { return run(*a); };
}

}  // namespace dnn::cli
