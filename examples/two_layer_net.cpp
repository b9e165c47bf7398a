// A fully connected net with one hidden layer, fitted to random numbers in three ways that give the same losses:
//   tensors   gradients worked out by hand, with tensor operations only
//   autograd  gradients by backward()
//   custom    the same with a ReLU of one's own
//
//   two_layer_net --method tensors|autograd|custom|all --size 1|2|3 --runs R
//
// h = relu(x w1), p = h w2, loss = sum of (p - y)^2. Prints the loss on the way, and mean and spread of the time of a
// run in milliseconds.

#include <libdnn/dnn.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "options/command_line.h"

namespace {

using dnn::Tensor;
using dnn::TensorList;

struct Size {
  int n, in, hidden, out;
  double lr() const { return 0.2 / in; }  // below 2 / (largest curvature), so that the loss falls steadily
};

struct Problem {
  explicit Problem(const Size& s) {
    dnn::manual_seed(1);
    x = dnn::randn({s.n, s.in});
    y = dnn::randn({s.n, s.out});
    w1 = dnn::randn({s.in, s.hidden}, 0, 1 / std::sqrt(s.in));
    w2 = dnn::randn({s.hidden, s.out}, 0, 1 / std::sqrt(s.hidden));
  }
  Tensor x, y, w1, w2;
};

// w -= lr * gradient, in place and unrecorded.
void move(const Tensor& w, const Tensor& gradient, double lr) { w.copy_from(w.detach() - lr * gradient); }

// relu as a function of one's own: forward, and backward from what forward saved.
struct MyRelu {
  static constexpr const char* kName = "my_relu";

  static TensorList forward(dnn::FunctionContext& context, const TensorList& inputs) {
    const Tensor y = inputs[0].clone();
    float* values = y.data<float>();
    for (int64_t i = 0; i < y.numel(); ++i) values[i] = std::max(values[i], 0.0f);
    context.save({y});
    return {y};
  }

  static TensorList backward(dnn::FunctionContext& context, const TensorList& dy) {
    const Tensor dx = dy[0].clone();
    const float* y = context.saved()[0].data<float>();
    float* values = dx.data<float>();
    for (int64_t i = 0; i < dx.numel(); ++i) values[i] = y[i] > 0 ? values[i] : 0.0f;
    return {dx};
  }
};

double step_by_hand(const Problem& p, double lr) {
  const Tensor h = dnn::relu(dnn::matmul(p.x, p.w1));
  const Tensor error = dnn::matmul(h, p.w2) - p.y;
  const double loss = dnn::sum(error * error).item();

  const Tensor d_prediction = 2.0 * error;
  const Tensor d_w2 = dnn::matmul(h, d_prediction, true, false);    // h^T d_prediction
  const Tensor d_h = dnn::matmul(d_prediction, p.w2, false, true);  // d_prediction w2^T
  const float* value = h.data<float>();
  float* gradient = d_h.data<float>();
  for (int64_t i = 0; i < h.numel(); ++i) gradient[i] = value[i] > 0 ? gradient[i] : 0.0f;
  const Tensor d_w1 = dnn::matmul(p.x, d_h, true, false);
  move(p.w1, d_w1, lr);
  move(p.w2, d_w2, lr);
  return loss;
}

double step_by_autograd(const Problem& p, double lr, Tensor (*relu)(const Tensor&)) {
  const Tensor error = dnn::matmul(relu(dnn::matmul(p.x, p.w1)), p.w2) - p.y;
  const Tensor loss = dnn::sum(error * error);
  p.w1.set_grad(Tensor());
  p.w2.set_grad(Tensor());
  loss.backward();
  move(p.w1, p.w1.grad(), lr);
  move(p.w2, p.w2.grad(), lr);
  return loss.item();
}

double step(const std::string& method, const Problem& problem, double lr) {
  if (method == "tensors") return step_by_hand(problem, lr);
  if (method == "autograd") return step_by_autograd(problem, lr, dnn::relu);
  return step_by_autograd(problem, lr, [](const Tensor& x) { return dnn::apply<MyRelu>({x})[0]; });
}

void measure(const std::string& method, const Size& size, int runs, int iterations) {
  double sum = 0, sum_of_squares = 0;
  for (int run = 0; run < runs; ++run) {
    Problem problem(size);
    problem.w1.requires_grad(method != "tensors");
    problem.w2.requires_grad(method != "tensors");
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < iterations; ++i) {
      const double loss = step(method, problem, size.lr());
      if (!std::isfinite(loss)) throw dnn::Error("the loss is not finite in iteration " + std::to_string(i));
      if (run == 0 && (i % 100 == 0 || i == iterations - 1)) {
        std::printf("%-9s iteration %3d  loss %.9g\n", method.c_str(), i, loss);
      }
    }
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    sum += ms.count();
    sum_of_squares += ms.count() * ms.count();
  }
  const double mean = sum / runs;
  const double spread = runs > 1 ? std::sqrt(std::max(0.0, sum_of_squares - runs * mean * mean) / (runs - 1)) : 0;
  std::printf("%-9s %d runs of %d iterations: %.1f ms a run, standard deviation %.1f ms\n", method.c_str(), runs,
              iterations, mean, spread);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Size> sizes{
      {"1", {64, 15000, 100, 150}}, {"2", {192, 20000, 300, 200}}, {"3", {384, 40000, 600, 400}}};
  std::string method = "all", size = "1";
  int runs = 3, iterations = 500;
  CommandLine line("A fully connected ReLU net in three ways.");
  line.add("--method", method, "how gradients are made", {"tensors", "autograd", "custom", "all"});
  line.add("--size", size,
           "(N, in, hidden, out): 1 (64, 15000, 100, 150), 2 (192, 20000, 300, 200), 3 (384, 40000, 600, 400)",
           {"1", "2", "3"});
  line.add("--runs", runs, "runs to time");
  line.add("--iterations", iterations, "steps of a run");
  line.parse(argc, argv);
  try {
    for (const char* one : {"tensors", "autograd", "custom"}) {
      if (method == one || method == "all") measure(one, sizes.at(size), runs, iterations);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "two_layer_net: %s\n", error.what());
    return 1;
  }
}
