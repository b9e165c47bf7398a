#include <libdnn/cli/command.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>

namespace dnn::cli {

void MachineOptions::add(CLI::App& app) {
  const CLI::Validator known(
      [](const std::string& name) -> std::string {
        try {
          const Device device(name);
          return "";
        } catch (const Error& error) {
          return error.what();
        }
      },
      "");
  app.add_option("--device", device, "where to compute: cpu, reference, or a row that `dnn info` lists")
      ->capture_default_str()
      ->check(known);
  app.add_option("--threads", threads, "threads to compute with")->capture_default_str()->check(CLI::Range(1, 4096));
}

void MachineOptions::apply() const {
  set_default_device(device);
  set_num_threads(threads);
}

void add_model_option(CLI::App& app, std::string& model) {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo()) names.push_back(entry.name);
  app.add_option("--model", model, "the net")->required()->check(CLI::IsMember(names));
}

std::shared_ptr<Module> load_net(const char* command, const std::string& model, const std::string& weights,
                                 int classes) {
  std::shared_ptr<Module> net = zoo_entry(model).make(classes);
  const LoadReport report = load_weights(*net, weights);
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  };
  if (!report.missing.empty() || !report.unused.empty()) {
    throw Error(fmt::format("[{}] {} is not of {}: missing {}; unused {}", command, weights, model,
                            list(report.missing), list(report.unused)));
  }
  net->eval();
  return net;
}

void write_json(const std::string& path, const nlohmann::ordered_json& result) {
  if (path.empty()) return;
  const std::string text = result.dump(2) + "\n";
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
