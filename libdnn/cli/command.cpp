#include <libdnn/cli/command.h>

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
