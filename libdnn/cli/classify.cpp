#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kImagenetLabels = "imagenet_labels.txt";  // comes with the program
constexpr int kImagenetClasses = 1000;
constexpr size_t kWorthFreezing = 3;  // batches: optimize_for_inference runs the net once itself

struct ClassifyArguments {
  MachineOptions machine;
  WeightsOptions weights;
  std::string model, labels, json;
  std::vector<std::string> paths;
  int top = 5, batch = 8, classes = 0;
  bool recursive = false, skip_bad = false;
  // Instead of what the zoo says of the net.
  std::optional<int> resize, crop;
  std::string interpolation;
  std::vector<float> mean, std;
  std::string order;
};

bool is_folder(const std::string& path) {
  std::error_code fault;
  return fs::is_directory(path, fault);
}

// The files named, and those in the folders named that are called like a picture, by name.
std::vector<std::string> pictures_of(const std::vector<std::string>& paths, bool recursive) {
  std::vector<std::string> files;
  int64_t hidden = 0;
  for (const std::string& path : paths) {
    if (!is_folder(path)) {
      files.push_back(path);
      continue;
    }
    FoundPictures found = find_pictures(path, recursive);
    if (found.paths.empty()) throw Error(fmt::format("[classify] no .jpg, .jpeg, .png or .bmp file in {}", path));
    std::sort(found.paths.begin(), found.paths.end());
    files.insert(files.end(), found.paths.begin(), found.paths.end());
    hidden += static_cast<int64_t>(found.hidden.size());
  }
  if (hidden > 0) fmt::print("left out: {}\n", counted(hidden, "hidden file or folder", "hidden files and folders"));
  return files;
}

// A label a line, of class 0 first; a line `background` before them, as some lists have it, is passed over.
std::vector<std::string> read_labels(const std::string& path, int classes) {
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("[classify] cannot open {}", path));
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    labels.push_back(line);
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  const auto wanted = static_cast<size_t>(classes);
  if (labels.size() == wanted + 1 && labels.front() == "background") labels.erase(labels.begin());
  if (labels.size() != wanted) {
    throw Error(fmt::format("[classify] the net has {}; {} has {}", counted(classes, "class", "classes"), path,
                            counted(static_cast<int64_t>(labels.size()), "label")));
  }
  return labels;
}

// "0.5" or "0.5,0.5,0.5", for each channel a number; false where it isn't like that.
bool read_channels(const std::string& text, std::vector<float>& to) {
  std::istringstream from(text);
  to.clear();
  do {
    float value = 0;
    if (!(from >> value) || !std::isfinite(value)) return false;
    to.push_back(value);
  } while (from.get() == ',');
  return from.eof() && (to.size() == 1 || to.size() == 3);
}

void set_channels(const char* name, const std::vector<float>& given, const ZooEntry& entry, std::array<float, 3>& to) {
  if (given.empty()) return;
  if (given.size() != static_cast<size_t>(entry.channels)) {
    throw WrongArguments(fmt::format("{}: {} has {}; got {}", name, entry.name, counted(entry.channels, "channel"),
                                     counted(static_cast<int64_t>(given.size()), "number")));
  }
  std::copy(given.begin(), given.end(), to.begin());
}

const std::map<std::string, Interpolation> kInterpolations{
    {"nearest", Interpolation::nearest}, {"bilinear", Interpolation::bilinear}, {"bicubic", Interpolation::bicubic}};

Preprocessing preprocessing_of(const ZooEntry& entry, const ClassifyArguments& a) {
  Preprocessing steps = entry.preprocessing;
  if (a.resize) steps.resize = *a.resize;
  if (a.crop) steps.crop_height = steps.crop_width = *a.crop;
  if (!a.interpolation.empty()) steps.interpolation = kInterpolations.at(a.interpolation);
  set_channels("--mean", a.mean, entry, steps.mean);
  set_channels("--std", a.std, entry, steps.std);
  if (!a.order.empty()) steps.bgr = a.order == "bgr";
  return steps;
}

struct Guess {
  int label;
  double probability;
  float logit;
};

// The `top` likeliest classes; of equal ones the first.
std::vector<Guess> best(const float* logits, int classes, int top) {
  double sum = 0;
  const float largest = *std::max_element(logits, logits + classes);
  for (int i = 0; i < classes; ++i) sum += std::exp(double{logits[i]} - largest);
  std::vector<int> order(static_cast<size_t>(classes));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return logits[a] > logits[b]; });
  std::vector<Guess> guesses;
  for (int i = 0; i < std::min(top, classes); ++i) {
    const int label = order[static_cast<size_t>(i)];
    guesses.push_back({label, std::exp(double{logits[label]} - largest) / sum, logits[label]});
  }
  return guesses;
}

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Asks the net batch by batch, prints what it says and keeps it for the JSON file.
class Classifier {
 public:
  Classifier(const ClassifyArguments& a, size_t pictures)
      : a_(a),
        entry_(zoo_entry(a.model)),
        classes_(a.classes > 0 ? a.classes : entry_.classes),
        steps_(preprocessing_of(entry_, a)),
        net_(load_net("classify", a.model, a.weights, classes_)),
        freeze_(pictures > kWorthFreezing * static_cast<size_t>(a.batch)) {
    std::string labels = a.labels;
    if (labels.empty() && classes_ == kImagenetClasses) labels = find_data_file(kImagenetLabels);
    if (!labels.empty()) labels_ = read_labels(labels, classes_);
    const bool missed = labels.empty() && classes_ == kImagenetClasses;
    fmt::print("preprocessing: {}\nlabels: {}\n", steps_.str(),
               missed           ? "ImageNet's are not there, classes by number"
               : labels.empty() ? "none, classes by number"
                                : labels);
  }

  void add(const std::string& path) {
    const auto start = std::chrono::steady_clock::now();
    try {
      images_.push_back(read_image(path));
      files_.push_back(path);
    } catch (const Error& error) {
      if (!a_.skip_bad) throw;
      fmt::print(stderr, "dnn: skipped: {}\n", error.what());
      ++skipped_;
    }
    preparing_ms_ += ms_since(start);
    if (images_.size() == static_cast<size_t>(a_.batch)) finish_batch();
  }

  void finish_batch() {
    if (images_.empty()) return;
    const auto start = std::chrono::steady_clock::now();
    const Tensor x = preprocess(images_, steps_);
    preparing_ms_ += ms_since(start);
    if (freeze_) net_ = optimize_for_inference(*net_, x);
    freeze_ = false;

    const auto begin = std::chrono::steady_clock::now();
    const Tensor y = (*net_)(x);
    if (y.dims() != 2 || y.size(1) != classes_) {
      throw Error(fmt::format("[classify] the net gives {} instead of {} logits a picture", y.shape().str(), classes_));
    }
    const std::vector<float> logits = y.to_vector<float>();
    const double ms = ms_since(begin);
    net_ms_ += ms;
    batches_.push_back({{"pictures", files_.size()}, {"time_ms", ms}});
    for (size_t i = 0; i < files_.size(); ++i) report(files_[i], logits.data() + i * static_cast<size_t>(classes_));
    fmt::print("({} at a time: {:.2f} ms in the net)\n", counted(static_cast<int64_t>(files_.size()), "picture"), ms);
    images_.clear();
    files_.clear();
  }

  void finish() {
    finish_batch();
    const auto count = static_cast<int64_t>(results_.size());
    const double pictures = static_cast<double>(std::max<int64_t>(count, 1));
    fmt::print("{}{}; on average {:.2f} ms to read and prepare, {:.2f} ms in the net\n", counted(count, "picture"),
               skipped_ > 0 ? fmt::format(", {} skipped", skipped_) : "", preparing_ms_ / pictures, net_ms_ / pictures);
    write_json(a_.json, {{"model", a_.model},
                         {"preprocessing", steps_.str()},
                         {"pictures", results_},
                         {"skipped", skipped_},
                         {"batches", batches_}});
    if (results_.empty()) throw Error("[classify] none of the pictures could be read");
  }

 private:
  void report(const std::string& file, const float* logits) {
    if (!std::all_of(logits, logits + classes_, [](float logit) { return std::isfinite(logit); })) {
      throw Error(fmt::format("[classify] the net's output for {} is not finite", file));
    }
    nlohmann::ordered_json top = nlohmann::ordered_json::array();
    fmt::print("{}\n", file);
    for (const Guess& guess : best(logits, classes_, a_.top)) {
      const std::string label = labels_.empty() ? "" : labels_[static_cast<size_t>(guess.label)];
      fmt::print("  {:>6.2f} %  {}{}{}\n", 100 * guess.probability, guess.label, label.empty() ? "" : ": ", label);
      top.push_back(
          {{"class", guess.label}, {"label", label}, {"probability", guess.probability}, {"logit", guess.logit}});
    }
    results_.push_back({{"file", file}, {"top", top}, {"batch", batches_.size()}});
  }

  const ClassifyArguments& a_;
  const ZooEntry& entry_;
  int classes_;
  Preprocessing steps_;
  std::shared_ptr<Module> net_;
  bool freeze_;
  std::vector<std::string> labels_;

  std::vector<Image> images_;  // of the batch that is being filled
  std::vector<std::string> files_;
  int64_t skipped_ = 0;
  double preparing_ms_ = 0, net_ms_ = 0;
  nlohmann::ordered_json results_ = nlohmann::ordered_json::array(), batches_ = nlohmann::ordered_json::array();
};

int run(const ClassifyArguments& a) {
  a.machine.apply();
  const NoGrad no_grad;
  const std::vector<std::string> pictures = pictures_of(a.paths, a.recursive);
  Classifier classifier(a, pictures.size());
  for (const std::string& picture : pictures) classifier.add(picture);
  classifier.finish();
  return 0;
}

}  // namespace

Command add_classify(CLI::App& app) {
  const auto a = std::make_shared<ClassifyArguments>();
  add_model_option(app, a->model);
  a->weights.add(app, "weights of the net, .safetensors or .pth");
  app.add_option("PICTURE", a->paths, "JPEG, PNG or BMP, or a folder to look for them")
      ->required()
      ->check(existing_path());
  app.add_option("--labels", a->labels,
                 fmt::format("file with a label a line [ImageNet's for {} classes, else none]", kImagenetClasses))
      ->type_name("FILE")
      ->check(existing_file());
  const CLI::Option* const top = app.add_option("--top", a->top, "how many classes to show")
                                     ->type_name("N")
                                     ->capture_default_str()
                                     ->check(whole_number(1));
  app.add_option("--batch", a->batch, "pictures at a time")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1));
  app.add_option("--classes", a->classes, "classes of the weights [the net's own]")
      ->type_name("N")
      ->check(whole_number(1));
  const CLI::Option* const recursive =
      app.add_flag("--recursive", a->recursive, "look in the folders' folders as well")->disable_flag_override();
  app.add_flag("--skip-bad", a->skip_bad, "pass over pictures that can't be read, and count them")
      ->disable_flag_override();
  add_json_option(app, a->json, "also write the results to this file");
  const std::string before = "Preprocessing, instead of the net's own";
  app.add_option("--resize", a->resize, "shorter side in pixels; 0: none")
      ->type_name("N")
      ->check(whole_number(0))
      ->group(before);
  app.add_option("--crop", a->crop, "side of the square from the center; 0: none")
      ->type_name("N")
      ->check(whole_number(0))
      ->group(before);
  const CLI::Option* const interpolation =
      app.add_option("--interpolation", a->interpolation, "nearest, bilinear or bicubic")
          ->type_name("NAME")
          ->check(one_of({"nearest", "bilinear", "bicubic"}))
          ->group(before);
  for (const auto& [name, values] : {std::pair{"--mean", &a->mean}, std::pair{"--std", &a->std}}) {
    app.add_option(
           name, [](const CLI::results_t&) { return true; },
           "of the pixels in [0, 1], for each channel a number: 0.5,0.5,0.5")
        ->type_name("X,X,X")
        ->check(CLI::Validator(
            [to = values](const std::string& text) -> std::string {
              return read_channels(text, *to) ? "" : "must be three numbers with commas, or one; got " + text;
            },
            ""))
        ->group(before);
  }
  const CLI::Option* const order = app.add_option("--order", a->order, "of the channels: rgb or bgr")
                                       ->type_name("NAME")
                                       ->check(one_of({"rgb", "bgr"}))
                                       ->group(before);
  a->machine.add(app);
  return [=] {
    const ZooEntry& entry = zoo_entry(a->model);
    const int classes = a->classes > 0 ? a->classes : entry.classes;
    if (top->count() > 0 && a->top > classes) {
      throw WrongArguments(fmt::format("--top: the net has {}; got {}", counted(classes, "class", "classes"), a->top));
    }
    if (std::none_of(a->paths.begin(), a->paths.end(), is_folder)) refuse_useless(recursive, "without a folder");
    if (std::find(a->std.begin(), a->std.end(), 0.0F) != a->std.end()) throw WrongArguments("--std: must not be 0");
    if (entry.channels == 1) refuse_useless(order, fmt::format("on {}, which takes grey pictures", a->model));
    if (a->resize.value_or(entry.preprocessing.resize) == 0) refuse_useless(interpolation, "where nothing is resized");
    return run(*a);
  };
}

}  // namespace dnn::cli
