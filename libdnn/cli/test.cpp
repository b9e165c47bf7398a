#include <fmt/format.h>

#include <chrono>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

struct TestArguments {
  MachineOptions machine;
  WeightsOptions weights;
  std::string model, data = "data/mnist", json;
  int batch = 256;
};

int run(const TestArguments& a) {
  a.machine.apply();
  const ImageDataset pictures = load_mnist(a.data, MnistPart::test);
  const std::shared_ptr<Module> net = load_net("test", a.model, a.weights, pictures.classes);
  DataLoader test(pictures, {.batch_size = a.batch});
  const auto start = std::chrono::steady_clock::now();
  const Evaluation result = evaluate(*net, test);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_json(a.json, {{"model", a.model},
                      {"weights", a.weights.path},
                      {"device", a.machine.device},
                      {"threads", a.machine.threads},
                      {"samples", result.samples},
                      {"correct", result.correct},
                      {"test_loss", result.loss()},
                      {"test_accuracy", result.accuracy()},
                      {"seconds", seconds}});
  fmt::print("{} of {} right, loss {:.4f}, {:.2f} s\n", result.correct, counted(result.samples, "picture"),
             result.loss(), seconds);
  fmt::print("test accuracy: {:.2f} %\n", 100 * result.accuracy());
  return 0;
}

}  // namespace

Command add_test(CLI::App& app) {
  const auto a = std::make_shared<TestArguments>();
  add_mnist_model_option(app, a->model);
  a->weights.add(app, "weights.safetensors of a run");
  app.add_option("--data", a->data, "folder with the four files of MNIST, gzipped or not")
      ->type_name("FOLDER")
      ->capture_default_str()
      ->check(existing_folder());
  app.add_option("--batch", a->batch, "pictures at a time")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1));
  add_json_option(app, a->json, "also write the results to this file");
  a->machine.add(app);
  return [a] { return run(*a); };
}

}  // namespace dnn::cli
