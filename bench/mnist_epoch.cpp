// One epoch of training on the 60,000 pictures of MNIST, batch 64, on every row of the CPU: loader, forward, backward
// and the optimiser's step. Threads: OMP_NUM_THREADS. Data: data/mnist below the working folder, or DNN_MNIST.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include <kernels/backend.h>
#include <libdnn/dnn.h>

namespace {

void epoch(benchmark::State& state, const std::string& model, const std::string& row, const dnn::ImageDataset& data) {
  dnn::set_default_device(row);
  dnn::manual_seed(1);
  const std::shared_ptr<dnn::Module> net = dnn::zoo_entry(model).make(data.classes);
  dnn::DataLoader loader(data, {.batch_size = 64, .shuffle = true, .seed = 1});
  dnn::SGD sgd(net->named_parameters(), {.lr = 0.01, .momentum = 0.9});
  dnn::Batch batch;
  int64_t number = 0;
  for (auto _ : state) {
    loader.start_epoch(number++);
    while (loader.next(batch)) {
      sgd.zero_grad();
      dnn::cross_entropy((*net)(batch.images), batch.labels).backward();
      sgd.step();
    }
  }
  state.counters["images/s"] =
      benchmark::Counter(static_cast<double>(number * loader.samples()), benchmark::Counter::kIsRate);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const char* folder = std::getenv("DNN_MNIST");
  const dnn::ImageDataset data = dnn::load_mnist(folder ? folder : "data/mnist", dnn::MnistPart::train);
  for (const dnn::Backend* row : dnn::backends()) {
    if (row->name.rfind("cpu_", 0) != 0 || !dnn::available(*row)) continue;
    for (const char* model : {"mnist_cnn", "lenet"}) {
      benchmark::RegisterBenchmark(("mnist_epoch/" + std::string(model) + "/" + row->name).c_str(),
                                   [=](benchmark::State& state) { epoch(state, model, row->name, data); })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
}
