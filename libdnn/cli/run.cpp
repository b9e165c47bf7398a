#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

// The net's result; an error also says how the file was read, as its sizes are the file's in another order.
Tensor answer(Module& net, const Tensor& x, const std::string& input, const Shape& given) {
  try {
    return net(x).to("cpu");
  } catch (const Error& error) {
    throw Error(fmt::format("{}; {} was read as (N, C, H, W) = {}", error.what(), input, given.str()));
  }
}

struct RunArguments {
  MachineOptions machine;
  WeightsOptions weights;
  std::string model, input, output;
  int classes = 0;
};

int run(const RunArguments& a) {
  a.machine.apply();
  const ZooEntry& entry = zoo_entry(a.model);
  const std::shared_ptr<Module> net = load_net("run", a.model, a.weights, a.classes > 0 ? a.classes : entry.classes);
  const Tensor given = to_float_type(read_tensor(a.input), DType::float32);
  if (given.dtype() != DType::float32) {
    throw Error(fmt::format("[run] the net needs float32; {} holds {}", a.input, name_of(given.dtype())));
  }
  const Tensor x = (given.dims() == 4 ? kcrs_to_krsc(given) : given).to(default_device());

  const NoGrad no_grad;
  const auto start = std::chrono::steady_clock::now();
  const Tensor y = answer(*net, x, a.input, given.shape());
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const Tensor result = y.dims() == 4 ? krsc_to_kcrs(y) : y;
  write_tensor(a.output, result, "output");
  fmt::print("{}: {} to {} in {:.2f} ms, written to {}\n", a.model, given.shape().str(), result.shape().str(), ms,
             a.output);
  return 0;
}

}  // namespace

Command add_run(CLI::App& app) {
  const auto a = std::make_shared<RunArguments>();
  add_model_option(app, a->model);
  a->weights.add(app, "weights of the net, .safetensors or .pth");
  app.add_option("--input", a->input, "a tensor of floats, .npy or ONNX's .pb; pictures as (N, C, H, W)")
      ->type_name("FILE")
      ->required()
      ->check(existing_file());
  const CLI::Validator known(
      [](const std::string& path) -> std::string {
        return path.ends_with(".npy") || path.ends_with(".pb") ? "" : "must end in .npy or .pb; got " + path;
      },
      "");
  app.add_option("--output", a->output, "file for the output; its ending, .npy or .pb, says how it is written")
      ->type_name("FILE")
      ->required()
      ->check(known)
      ->check(writable_file());
  app.add_option("--classes", a->classes, "classes of the weights [the net's own]")
      ->type_name("N")
      ->check(whole_number(1));
  a->machine.add(app);
  return [a] {
    std::error_code none;  // of a file that isn't there yet
    if (std::filesystem::equivalent(a->input, a->output, none)) {
      throw WrongArguments("--output would replace the input, " + a->input);
    }
    return run(*a);
  };
}

}  // namespace dnn::cli
