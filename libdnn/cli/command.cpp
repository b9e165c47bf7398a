#include <libdnn/cli/command.h>

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace dnn::cli {

namespace {

// The value of an option as a number, or nothing where it is none, infinite or NaN.
std::optional<double> finite_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !std::isfinite(value)) return {};
  return value;
}

// "" where f takes the number, else what an option must be.
CLI::Validator number_check(const char* what, bool (*f)(double)) {
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        const std::optional<double> value = finite_number(text);
        return value && f(*value) ? "" : fmt::format("must be {}; got {}", what, text);
      },
      "");
}

// Tries what write_json will do.
std::string json_fault(const std::string& path) {
  try {
    const AtomicFile file(path);  // goes away again
    return std::filesystem::is_directory(path) ? path + " is a folder" : "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

CLI::Validator positive() {
  return number_check("a number above 0", [](double x) { return x > 0; });
}

CLI::Validator not_negative() {
  return number_check("a number from 0 on", [](double x) { return x >= 0; });
}

CLI::Validator fraction() {
  return number_check("a number from 0 to 1", [](double x) { return x >= 0 && x <= 1; });
}

CLI::Validator whole_number() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        errno = 0;
        if (digits && (std::strtoull(text.c_str(), nullptr, 10), errno == 0)) return "";
        return fmt::format("must be a whole number from 0 to 2^64 - 1; got {}", text);
      },
      "");
}

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

void add_mnist_model_option(CLI::App& app, std::string& model) {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo()) {
    if (entry.channels == 1 && entry.height == 28 && entry.width == 28) names.push_back(entry.name);
  }
  app.add_option("--model", model, "the net, one for grey pictures of 28x28")->required()->check(CLI::IsMember(names));
}

void add_json_option(CLI::App& app, std::string& path, const char* what) {
  app.add_option("--json", path, what)->check(CLI::Validator(json_fault, ""));
}

void WeightsOptions::add(CLI::App& app, const char* what) {
  app.add_option("--weights", path, what)->required()->check(CLI::ExistingFile);
  app.add_option("--checkpoint-key", checkpoint_key,
                 "key of the weights in a checkpoint [state_dict, model_state_dict, model, net or params]");
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
