#include <fmt/format.h>

#include <algorithm>
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
  bool overwrite = false;
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

// An earlier run's results stay unless they are to be overwritten.
void check_run_folder(const TrainArguments& a) {
  for (const char* const name : {"log.csv", "weights.safetensors"}) {
    std::error_code fault;
    const std::filesystem::path file = std::filesystem::path(a.out) / name;
    if (a.overwrite || !std::filesystem::exists(file, fault)) continue;
    throw WrongArguments(fmt::format("--out: there is {} of an earlier run; --overwrite replaces it", file.string()));
  }
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
    options.step_size = a.step > 0 ? a.step : std::max<int64_t>(steps / 2, 1);
  }
  if (a.schedule == "linear") options.total_steps = steps;
  return make_schedule(options);
}

int run(TrainArguments& a) {
  if (!a.out.empty()) check_run_folder(a);
  a.machine.apply();
  manual_seed(a.seed);
  ImageDataset train_set = load_mnist(a.data, MnistPart::train);
  if (a.limit > train_set.size()) {
    throw WrongArguments(
        fmt::format("--limit: the training set has {}; got {}", counted(train_set.size(), "picture"), a.limit));
  }
  if (a.limit > 0) train_set = train_set.first(a.limit);
  DataLoader train(train_set, {.batch_size = a.batch, .shuffle = true, .seed = a.seed});
  DataLoader test(load_mnist(a.data, MnistPart::test), {.batch_size = 256});
  const int64_t steps = a.epochs * train.batches();
  if (a.step >= steps) {
    throw WrongArguments(
        fmt::format("--lr-step: the run has {}; got {}, which changes nothing", counted(steps, "step"), a.step));
  }
  const std::shared_ptr<Module> net = zoo_entry(a.model).make(train_set.classes);
  if (a.out.empty()) a.out = make_run_folder(a.model);

  int64_t parameters = 0;
  for (const Tensor& parameter : net->parameters()) parameters += parameter.numel();
  fmt::print("{}: {}, {} training and {}, {} on {}, results in {}\n", a.model, counted(parameters, "parameter"),
             train.samples(), counted(test.samples(), "test picture"), default_device().row(),
             counted(a.machine.threads, "thread"), a.out);

  ProgressDisplay progress(a.epochs, train.samples());
  catch_interrupt();
  Trainer trainer(*net, train, test,
                  {.epochs = a.epochs,
                   .sgd = {.lr = a.lr, .momentum = a.momentum, .weight_decay = a.weight_decay},
                   .schedule = schedule_of(a, steps),
                   .out = a.out,
                   .metadata = {{"model", a.model}, {"seed", std::to_string(a.seed)}, {"libdnn", version()}},
                   .events = progress.events(),
                   .should_stop = interrupted});
  const Trainer::Report report = trainer.run();
  write_json(a.json, to_json(a, report));
  if (report.stopped) {
    fmt::print("interrupted after {} of {}; what was learned so far is in {}\n", report.epochs.back().iterations,
               counted(steps, "step"), a.out);
  }
  fmt::print("test accuracy: {:.2f} %\n", 100 * report.epochs.back().test_accuracy);
  return report.stopped ? kInterrupted : 0;
}

}  // namespace

Command add_train(CLI::App& app) {
  const auto a = std::make_shared<TrainArguments>();
  add_mnist_model_option(app, a->model);
  const auto option = [&app](const char* name, auto& value, const char* type, const char* text) {
    return app.add_option(name, value, text)->type_name(type)->capture_default_str();
  };
  option("--data", a->data, "FOLDER", "folder with the four files of MNIST, gzipped or not")->check(existing_folder());
  option("--epochs", a->epochs, "N", "passes over the training set")->check(whole_number(1));
  option("--batch", a->batch, "N", "pictures in a step")->check(whole_number(1));
  option("--lr", a->lr, "X", "learning rate at the start")->check(not_negative());
  option("--lr-schedule", a->schedule, "NAME",
         "constant; step: times --lr-gamma every --lr-step steps; linear: to 0 over the run")
      ->check(one_of({"constant", "step", "linear"}));
  const CLI::Option* const step =
      app.add_option("--lr-step", a->step, "steps from one change to the next, with schedule step [half of the run]")
          ->type_name("N")
          ->check(whole_number(1, INT64_MAX));
  const CLI::Option* const gamma =
      option("--lr-gamma", a->gamma, "X", "factor of a change, with schedule step")->check(positive());
  option("--momentum", a->momentum, "X", "of SGD")->check(fraction());
  option("--weight-decay", a->weight_decay, "X", "added to the gradient, times the weight")->check(not_negative());
  option("--seed", a->seed, "N", "of the weights and the order of the pictures")->check(seed_number());
  app.add_option("--limit", a->limit, "train on the first N pictures only")
      ->type_name("N")
      ->check(whole_number(1, INT64_MAX));
  app.add_option("--out", a->out, "folder for log.csv and weights.safetensors [a new one: runs/MODEL]")
      ->type_name("FOLDER")
      ->check(not_empty());
  const CLI::Option* const overwrite =
      app.add_flag("--overwrite", a->overwrite, "replace the results of an earlier run in the folder of --out")
          ->disable_flag_override();
  add_json_option(app, a->json, "also write the results to this file");
  a->machine.add(app);
  return [=] {
    if (a->schedule != "step") {
      for (const CLI::Option* of_step : {step, gamma}) {
        refuse_useless(of_step, fmt::format("with --lr-schedule {}", a->schedule));
      }
    }
    if (a->out.empty()) refuse_useless(overwrite, "without --out: each run has a folder of its own");
    return run(*a);
  };
}

}  // namespace dnn::cli
