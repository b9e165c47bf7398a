#include <fmt/format.h>

#include <filesystem>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

struct TrainArguments {
  MachineOptions machine;
  std::string model, data = "data/mnist", out, json;
  int epochs = 2, batch = 64;
  std::string schedule = "linear";
  double lr = 0.05, gamma = 0.1, momentum = 0.9, weight_decay = 5e-4;
  int64_t step = 0, limit = 0;
  uint64_t seed = 1;
};

// Makes runs/lenet, or runs/lenet-2 and so on where there are earlier ones, also of runs that begin at the same time.
std::string make_run_folder(const std::string& model) {
  const std::filesystem::path runs = "runs";
  std::filesystem::path folder = runs / model;
  try {
    std::filesystem::create_directories(runs);
    for (int number = 2; !std::filesystem::create_directory(folder); ++number) {
      folder = runs / fmt::format("{}-{}", model, number);
    }
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(fmt::format("[train] cannot make the folder {}: {}", folder.string(), error.code().message()));
  }
  return folder.string();
}

nlohmann::ordered_json to_json(const EpochReport& e) {
  return {{"epoch", e.epoch},
          {"iterations", e.iterations},
          {"lr", e.lr},
          {"train_loss", e.train_loss},
          {"train_accuracy", e.train_accuracy},
          {"test_loss", e.test_loss},
          {"test_accuracy", e.test_accuracy},
          {"seconds", e.seconds},
          {"images_per_s", e.images_per_s}};
}

nlohmann::ordered_json to_json(const TrainArguments& a, const Trainer::Report& report) {
  nlohmann::ordered_json json{{"model", a.model},
                              {"device", a.machine.device},
                              {"threads", a.machine.threads},
                              {"seed", a.seed},
                              {"batch", a.batch},
                              {"lr", a.lr},
                              {"lr_schedule", a.schedule},
                              {"momentum", a.momentum},
                              {"weight_decay", a.weight_decay},
                              {"out", a.out},
                              {"interrupted", report.stopped},
                              {"test_accuracy", report.epochs.back().test_accuracy}};
  for (const EpochReport& epoch : report.epochs) json["epochs"].push_back(to_json(epoch));
  return json;
}

Schedule schedule_of(const TrainArguments& a, int64_t steps) {
  ScheduleOptions options{.name = a.schedule, .lr = a.lr};
  if (a.schedule == "step") {
    options.gamma = a.gamma;
    options.step_size = a.step > 0 ? a.step : steps / 2;
  }
  if (a.schedule == "linear") options.total_steps = steps;
  return make_schedule(options);
}

int run(TrainArguments& a) {
  a.machine.apply();
  manual_seed(a.seed);
  ImageDataset train_set = load_mnist(a.data, MnistPart::train);
  if (a.limit > 0) train_set = train_set.first(a.limit);
  DataLoader train(train_set, {.batch_size = a.batch, .shuffle = true, .seed = a.seed});
  DataLoader test(load_mnist(a.data, MnistPart::test), {.batch_size = 256});
  const std::shared_ptr<Module> net = zoo_entry(a.model).make(train_set.classes);
  if (a.out.empty()) a.out = make_run_folder(a.model);

  int64_t parameters = 0;
  for (const Tensor& parameter : net->parameters()) parameters += parameter.numel();
  fmt::print("{}: {} parameters, {} training and {} test pictures, {} on {} thread{}, results in {}\n", a.model,
             parameters, train.samples(), test.samples(), default_device().backend().name, a.machine.threads,
             a.machine.threads == 1 ? "" : "s", a.out);

  ProgressDisplay progress(a.epochs, train.samples());
  catch_interrupt();
  Trainer trainer(*net, train, test,
                  {.epochs = a.epochs,
                   .sgd = {.lr = a.lr, .momentum = a.momentum, .weight_decay = a.weight_decay},
                   .schedule = schedule_of(a, a.epochs * train.batches()),
                   .out = a.out,
                   .metadata = {{"model", a.model}, {"seed", std::to_string(a.seed)}, {"libdnn", version()}},
                   .events = progress.events(),
                   .should_stop = interrupted});
  const Trainer::Report report = trainer.run();
  write_json(a.json, to_json(a, report));
  if (report.stopped) {
    fmt::print("interrupted after {} of {} steps; what was learnt so far is in {}\n", report.epochs.back().iterations,
               a.epochs * train.batches(), a.out);
  }
  fmt::print("test accuracy: {:.2f} %\n", 100 * report.epochs.back().test_accuracy);
  return report.stopped ? kInterrupted : 0;
}

}  // namespace

Command add_train(CLI::App& app) {
  const auto a = std::make_shared<TrainArguments>();
  add_mnist_model_option(app, a->model);
  const auto option = [&app](const char* name, auto& value, const char* text) {
    return app.add_option(name, value, text)->capture_default_str();
  };
  option("--data", a->data, "folder with the four files of MNIST, gzipped or not")->check(CLI::ExistingDirectory);
  option("--epochs", a->epochs, "passes over the training set")->check(positive());
  option("--batch", a->batch, "pictures in a step")->check(positive());
  option("--lr", a->lr, "learning rate at the start")->check(not_negative());
  option("--lr-schedule", a->schedule,
         "constant; step: times --lr-gamma every --lr-step steps; linear: to 0 over the run")
      ->check(CLI::IsMember({"constant", "step", "linear"}));
  app.add_option("--lr-step", a->step, "steps from one change to the next [half of the run]")->check(positive());
  option("--lr-gamma", a->gamma, "factor of a change")->check(positive());
  option("--momentum", a->momentum, "of SGD")->check(fraction());
  option("--weight-decay", a->weight_decay, "added to the gradient, times the weight")->check(not_negative());
  option("--seed", a->seed, "of the weights and the order of the pictures")->check(whole_number());
  app.add_option("--limit", a->limit, "train on the first N pictures only")->check(positive());
  app.add_option("--out", a->out, "folder for log.csv and weights.safetensors [a new one: runs/MODEL]");
  add_json_option(app, a->json, "also write the results to this file");
  a->machine.add(app);
  return [a] { return run(*a); };
}

}  // namespace dnn::cli
