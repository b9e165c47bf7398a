// A convolutional net trained on MNIST, with every step in sight.
//
//   mnist_cnn [DATA_FOLDER] [EPOCHS] [DEVICE]        for instance: mnist_cnn data/mnist 10 cpu
//
// The net: a 5x5 convolution to 6 maps of 24x24 and a sigmoid; one 4x4 filter with stride 4 that all six maps share,
// which makes them 6x6, and a sigmoid; a dense layer to the scores of the ten digits.

#include <libdnn/dnn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// A net is a Module: it names its parts in the constructor and says in forward() how they follow each other. The
// names are those in the weight file: conv.weight, conv.bias, subsample.weight, ...
struct MnistCnn : dnn::Module {
  MnistCnn() {
    add("conv", dnn::Conv2d(1, 6, 5));
    add("subsample", dnn::SharedConv2d({.kernel_size = 4, .stride = 4}));
    add("fc", dnn::Linear(6 * 6 * 6, 10));
  }

  dnn::Tensor forward(const dnn::Tensor& x) override {                 // x: (N, 28, 28, 1)
    const dnn::Tensor maps = dnn::sigmoid(child("conv")(x));           // (N, 24, 24, 6)
    const dnn::Tensor small = dnn::sigmoid(child("subsample")(maps));  // (N, 6, 6, 6)
    return child("fc")(dnn::flatten(small));                           // (N, 10)
  }

  std::shared_ptr<dnn::Module> clone() const override { return dnn::clone_of(*this); }
};

double accuracy(dnn::Module& net, dnn::DataLoader& loader) {
  const dnn::NoGrad no_grad;  // records nothing, so that nothing is kept for a backward pass
  net.eval();
  int64_t right = 0;
  dnn::Batch batch;
  loader.start_epoch(0);
  while (loader.next(batch)) right += dnn::count_correct(net(batch.images), batch.labels);
  net.train();
  return static_cast<double>(right) / static_cast<double>(loader.samples());
}

void train(const std::string& folder, int epochs) {
  // The pictures stay bytes; a loader makes float batches of them, pixel / 255. The last batch of an epoch is short.
  dnn::DataLoader training(dnn::load_mnist(folder, dnn::MnistPart::train),
                           {.batch_size = 64, .shuffle = true, .seed = 1});
  dnn::DataLoader test(dnn::load_mnist(folder, dnn::MnistPart::test), {.batch_size = 256});

  dnn::manual_seed(1);  // weights follow from it, and with them the whole run
  MnistCnn net;
  dnn::SGD sgd(net.named_parameters(), {.lr = 0.1, .momentum = 0.9});

  for (int epoch = 0; epoch < epochs; ++epoch) {
    double loss_sum = 0;
    dnn::Batch batch;
    training.start_epoch(epoch);
    while (training.next(batch)) {
      sgd.zero_grad();
      const dnn::Tensor loss = dnn::cross_entropy(net(batch.images), batch.labels);
      if (!std::isfinite(loss.item())) throw dnn::Error("the loss is not finite; a lower learning rate may help");
      loss.backward();  // fills the gradient of every parameter
      sgd.step();       // moves the parameters against their gradients
      loss_sum += loss.item() * batch.images.size(0);
    }
    std::printf("epoch %d  loss %.4f  test accuracy %.2f %%\n", epoch + 1,
                loss_sum / static_cast<double>(training.samples()), 100 * accuracy(net, test));
  }
  dnn::save_weights(net, "mnist_cnn.safetensors");
}

}  // namespace

int main(int argc, char** argv) {
  const int epochs = argc > 2 ? std::atoi(argv[2]) : 10;
  if (argc > 4 || epochs < 1 || (argc > 1 && argv[1][0] == '-')) {
    std::fprintf(stderr, "usage: mnist_cnn [DATA_FOLDER] [EPOCHS] [DEVICE]\n");
    return 2;
  }
  try {
    if (argc > 3) dnn::set_default_device(argv[3]);  // one switch for the whole program
    train(argc > 1 ? argv[1] : "data/mnist", epochs);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mnist_cnn: %s\n", error.what());
    return 1;
  }
}
