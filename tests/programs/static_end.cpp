// Uses the library after main() has returned: argument 1 is the start of the files' names that it writes. See
// tests/core/static_end_test.cpp.
#include <libdnn/dnn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

const char* prefix = "";

dnn::Sequential make_net() {
  return dnn::Sequential(dnn::Conv2d(1, 4, 3), dnn::BatchNorm2d(4), dnn::ReLU(), dnn::Dropout(0.1), dnn::Flatten(),
                         dnn::Linear(4 * 6 * 6, 3));
}

// A few steps of training, and the weights that come of them.
void train(dnn::Sequential& net, const char* name) {
  try {
    dnn::SGD sgd(net.named_parameters(), {.lr = 0.1, .momentum = 0.9});
    const dnn::Tensor x = dnn::rand({64, 8, 8, 1}), labels = dnn::zeros({64}, dnn::DType::int32);
    for (int step = 0; step < 3; ++step) {
      sgd.zero_grad();
      const dnn::Tensor loss = dnn::cross_entropy(net(x), labels);
      loss.backward();
      sgd.step();
    }
    dnn::save_weights(net, std::string(prefix) + name + ".safetensors");
    const std::shared_ptr<dnn::Module> of_zoo = dnn::zoo_entry("mnist_cnn").make(10);
    const std::string pth = std::string(prefix) + name + ".pth";
    dnn::save_weights(*of_zoo, pth);
    dnn::load_weights(*of_zoo, pth);
    // Errors name the module too.
    try {
      net(dnn::zeros({1, 8, 8, 2}));
      std::_Exit(4);
    } catch (const dnn::Error& error) {
      if (std::string(error.what()).find("(in 0)") == std::string::npos) std::_Exit(5);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    std::_Exit(3);
  }
}

// Made before anything of the library, and so destroyed after.
struct Owner {
  std::shared_ptr<dnn::Sequential> net;
  const char* name;

  ~Owner() {
    if (net) train(*net, name);
  }
};
Owner owner{nullptr, "static"};

// Goes with its thread, after what the library keeps for that.
void use_thread_local() {
  thread_local Owner of_thread{nullptr, "thread_local"};
  of_thread.net = std::make_shared<dnn::Sequential>(make_net());
}

// A thread that is still at work when the static variables go.
std::atomic<bool> main_has_returned{false}, thread_is_done{false};
struct WaitForThread {
  ~WaitForThread() {
    main_has_returned = true;
    while (!thread_is_done) std::this_thread::yield();
  }
};
WaitForThread wait_for_thread;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  prefix = argv[1];
  dnn::set_num_threads(2);
  owner.net = std::make_shared<dnn::Sequential>(make_net());
  std::thread([] {
    use_thread_local();
    dnn::Sequential net = make_net();
    train(net, "thread");
  }).join();
  std::thread([] {
    dnn::Sequential net = make_net();
    train(net, "before");
    while (!main_has_returned) std::this_thread::yield();
    train(net, "after");
    thread_is_done = true;
  }).detach();
  dnn::Sequential net = make_net();
  train(net, "main");
  return 0;
}
