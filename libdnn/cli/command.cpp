#include <libdnn/cli/command.h>

#include <fmt/format.h>

#include <csignal>
#include <filesystem>

namespace dnn::cli {

namespace {

// Tries what write_json will do.
std::string output_fault(const std::string& path) {
  try {
    const AtomicFile file(path);  // goes away again
    return std::filesystem::is_directory(path) ? path + " is a folder" : "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

CLI::Validator writable_file() { return CLI::Validator(output_fault, ""); }

void MachineOptions::add(CLI::App& app) {
  const CLI::Validator known(
      [](const std::string& name) -> std::string {
        if (name == "meta") return "meta computes nothing; `dnn summary` is what it is for";
        try {
          const Device device(name);
          return "";
        } catch (const Error& error) {
          return error.what();
        }
      },
      "");
  app.add_option("--device", device, "where to compute: cpu, reference, or another that `dnn info` lists")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(known);
  app.add_option("--threads", threads, "threads to compute with")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, kMostThreads));
}

void MachineOptions::apply() const {
  set_default_device(device);
  set_num_threads(threads);
}

namespace {

void add_model_option(CLI::App& app, std::string& model, const std::vector<std::string>& names) {
  app.add_option("--model", model, fmt::format("the net: {}", fmt::join(names, ", ")))
      ->type_name("NAME")
      ->required()
      ->check(one_of(names));
}

}  // namespace

void add_model_option(CLI::App& app, std::string& model) {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo()) names.push_back(entry.name);
  add_model_option(app, model, names);
}

void add_mnist_model_option(CLI::App& app, std::string& model) {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo()) {
    if (entry.channels == 1 && entry.height == 28 && entry.width == 28) names.push_back(entry.name);
  }
  add_model_option(app, model, names);
}

void add_json_option(CLI::App& app, std::string& path, const char* what) {
  app.add_option("--json", path, what)->type_name("FILE")->check(writable_file());
}

void WeightsOptions::add(CLI::App& app, const char* what) {
  app.add_option("--weights", path, what)->type_name("FILE")->required()->check(existing_file());
  app.add_option("--checkpoint-key", checkpoint_key,
                 "key of the weights in a checkpoint [state_dict, model_state_dict, model, net or params]")
      ->type_name("KEY");
}

std::shared_ptr<Module> load_net(const char* command, const std::string& model, const WeightsOptions& weights,
                                 int classes) {
  std::shared_ptr<Module> net = zoo_entry(model).make(classes);
  const LoadReport report = load_weights(*net, weights.path, {.checkpoint_key = weights.checkpoint_key});
  if (!report.unused.empty()) {
    throw Error(
        fmt::format("[{}] {} is not of {}, which has no {}", command, weights.path, model, first_names(report.unused)));
  }
  net->eval();
  return net;
}

void write_json(const std::string& path, const nlohmann::ordered_json& result) {
  if (path.empty()) return;
  const std::string text = result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

void on_interrupt(int) {
  interrupt_seen = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

void catch_interrupt() { std::signal(SIGINT, on_interrupt); }
bool interrupted() { return interrupt_seen != 0; }

}  // namespace dnn::cli
