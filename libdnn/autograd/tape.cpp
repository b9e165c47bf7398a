#include <libdnn/autograd/tape.h>

#include <fmt/format.h>

#include <atomic>
#include <queue>
#include <utility>

#include <libdnn/core/counted.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/core/tensor_impl.h>

namespace dnn {

// Where an input's gradient goes: on to the step that computed it, or to a leaf.
struct Edge {
  std::shared_ptr<Node> node;        // null for a leaf
  std::shared_ptr<TensorImpl> leaf;  // null for a result
  int output = 0;
  Shape shape;
  DType dtype = DType::float32;
  bool wanted = false;
};

// A step of the tape. Steps are numbered as they are recorded, so that going back by falling number meets a step after
// all that used its results.
struct Node {
  ~Node();

  const char* name = "";
  uint64_t number = 0;
  std::vector<Edge> inputs;
  BackwardStep step;  // empty once used
  TensorList grads;   // of the results, as collected so far
  bool queued = false;
  bool grad_is_one = false;  // what backward() starts with, and nothing else yet
};

// A long chain of steps must not be freed by recursion, neither through the edges nor through saved inputs.
Node::~Node() {
  std::vector<std::shared_ptr<Node>> chain;
  const auto take = [&](Node& node) {
    for (Edge& edge : node.inputs) {
      if (edge.node) chain.push_back(std::move(edge.node));
    }
    node.step = nullptr;
  };
  take(*this);
  while (!chain.empty()) {
    const std::shared_ptr<Node> node = std::move(chain.back());
    chain.pop_back();
    if (node.use_count() == 1) take(*node);
  }
}

namespace {

thread_local bool recording = true;
thread_local bool step_grad_is_one = false;
std::atomic<uint64_t> next_number{0};  // one for all steps, however their operands come

template <class List>
bool any_wants_grad(const List& inputs) {
  for (const Tensor& input : inputs) {
    if (input.defined() && input.requires_grad()) return true;
  }
  return false;
}

Edge edge_to(const Tensor& input) {
  Edge edge;
  if (!input.defined() || !input.requires_grad()) return edge;
  edge.wanted = true;
  edge.shape = input.shape();
  edge.dtype = input.dtype();
  edge.node = input.impl()->node;
  edge.output = input.impl()->output;
  if (!edge.node) edge.leaf = input.shared_impl();
  return edge;
}

template <class List>
void record_step(const char* name, const List& inputs, const List& outputs, BackwardStep step) {
  if (!recording || !any_wants_grad(inputs)) return;
  auto node = std::make_shared<Node>();
  node->name = name;
  node->number = next_number++;
  node->inputs.reserve(inputs.size());
  for (const Tensor& input : inputs) node->inputs.push_back(edge_to(input));
  node->step = std::move(step);
  node->grads.resize(outputs.size());
  int index = 0;
  for (const Tensor& output : outputs) {
    TensorImpl& impl = *output.impl();
    if (is_floating_point(impl.dtype)) {
      impl.requires_grad = true;
      impl.node = node;
      impl.output = index;
    }
    ++index;
  }
}

// Whether nobody else can see the elements: then they may be overwritten.
bool sole_owner(const Tensor& t) { return t.shared_impl().use_count() == 1 && t.impl()->storage.use_count() == 1; }

// sum += more
void accumulate(Tensor& sum, Tensor more, bool in_place) {
  if (size_of(sum.dtype()) == 2) {  // halves are added as floats
    Tensor wide = sum.to(DType::float32);
    accumulate(wide, more.to(DType::float32), true);
    sum = wide.to(sum.dtype());
    return;
  }
  const Tensor result = in_place ? sum : Tensor(sum.shape(), sum.dtype(), sum.device());
  run_kernel("accumulate", {&sum, &more}, [&]<class T>(const Kernels<T>& k, Context& context) {
    BroadcastShape shape;
    shape.dims = 1;
    shape.size[0] = sum.numel();
    shape.a_stride[0] = shape.b_stride[0] = 1;
    k.binary(context, BinaryOp::add, shape, sum.data<T>(), more.data<T>(), result.data<T>());
  });
  sum = result;
}

void add_to(Tensor& sum, Tensor more) {
  if (!sum.defined()) {
    sum = std::move(more);
  } else {
    accumulate(sum, std::move(more), sole_owner(sum));
  }
}

void add_to_leaf(TensorImpl& leaf, Tensor more) {
  if (leaf.grad.defined()) {
    accumulate(leaf.grad, std::move(more), true);
  } else if (sole_owner(more) && !more.requires_grad()) {
    leaf.grad = std::move(more);
  } else {  // others hold these elements too
    Tensor copy(more.shape(), more.dtype(), more.device());
    copy.copy_from(more);
    leaf.grad = std::move(copy);
  }
}

void check_grad(const char* name, size_t index, const Edge& edge, const Tensor& grad) {
  if (grad.shape() == edge.shape && grad.dtype() == edge.dtype) return;
  throw Error(fmt::format("[{}] backward must give {} {} for input {}; got {} {}", name, name_of(edge.dtype),
                          edge.shape.str(), index, name_of(grad.dtype()), grad.shape().str()));
}

struct ByNumber {
  bool operator()(const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) const {
    return a->number < b->number;
  }
};
using Queue = std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, ByNumber>;

void send(Edge& edge, Tensor grad, Queue& queue, bool is_one = false) {
  if (edge.leaf) {
    add_to_leaf(*edge.leaf, std::move(grad));
    return;
  }
  edge.node->grad_is_one = is_one && !edge.node->queued;
  add_to(edge.node->grads[edge.output], std::move(grad));
  if (!edge.node->queued) {
    edge.node->queued = true;
    queue.push(edge.node);
  }
}

void run_step(Node& node, Queue& queue) {
  if (!node.step) {
    throw Error(
        fmt::format("[{}] backward a second time; the graph is used up and its saved tensors are freed", node.name));
  }
  const BackwardStep step = std::move(node.step);
  node.step = nullptr;
  TensorList dx;
  {
    const TensorList dy = std::exchange(node.grads, TensorList(node.grads.size()));
    node.queued = false;
    step_grad_is_one = std::exchange(node.grad_is_one, false);
    dx = step(dy);
  }
  if (dx.size() != node.inputs.size()) {
    throw Error(fmt::format("[{}] backward must give {}; got {}", node.name,
                            counted(static_cast<int64_t>(node.inputs.size()), "gradient"), dx.size()));
  }
  for (size_t i = 0; i < dx.size(); ++i) {
    if (!node.inputs[i].wanted || !dx[i].defined()) continue;
    check_grad(node.name, i, node.inputs[i], dx[i]);
    send(node.inputs[i], std::move(dx[i]), queue);
  }
}

// As if nothing had been sent to it.
void forget(Node& node) {
  node.grads.assign(node.grads.size(), Tensor());
  node.queued = node.grad_is_one = false;
}

// Runs the queue to its end. A step that throws leaves its node as if it had not been reached, but used up.
void run_queue(Queue& queue) {
  while (!queue.empty()) {
    const std::shared_ptr<Node> node = queue.top();
    queue.pop();
    try {
      run_step(*node, queue);
    } catch (...) {
      step_grad_is_one = false;
      forget(*node);
      throw;
    }
    step_grad_is_one = false;
  }
}

Tensor seed(const Tensor& result, const Tensor& grad) {
  if (grad.defined()) {
    if (grad.shape() == result.shape() && grad.dtype() == result.dtype() && grad.device() == result.device()) {
      return grad;
    }
    throw Error(fmt::format("[backward] the gradient must be {} {} on {}; got {} {} on {}", name_of(result.dtype()),
                            result.shape().str(), result.device().name(), name_of(grad.dtype()), grad.shape().str(),
                            grad.device().name()));
  }
  if (result.numel() != 1) {
    throw Error(
        fmt::format("[backward] without a gradient the result must be one element; got {}", result.shape().str()));
  }
  return ones(result.shape(), result.dtype(), result.device());
}

}  // namespace

void record(const char* name, std::initializer_list<Tensor> inputs, std::initializer_list<Tensor> outputs,
            BackwardStep step) {
  record_step(name, inputs, outputs, std::move(step));
}

void record(const char* name, const TensorList& inputs, const TensorList& outputs, BackwardStep step) {
  record_step(name, inputs, outputs, std::move(step));
}

bool wants_grad(const Tensor& input) { return recording && input.defined() && input.requires_grad(); }
bool wants_grad(std::initializer_list<Tensor> inputs) { return recording && any_wants_grad(inputs); }
bool wants_grad(const TensorList& inputs) { return recording && any_wants_grad(inputs); }
bool grad_enabled() { return recording; }
bool gradient_is_one() { return step_grad_is_one; }

Tensor over_or_new(const Tensor& dy) { return sole_owner(dy) ? dy : Tensor(dy.shape(), dy.dtype(), dy.device()); }

NoGrad::NoGrad() : before_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = before_; }

void backward(const TensorList& results, const TensorList& grads) {
  if (results.size() != grads.size()) {
    throw Error(fmt::format("[backward] one gradient a result; got {} for {}", grads.size(), results.size()));
  }
  const NoGrad no_grad;
  Queue queue;
  try {
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].requires_grad()) {
        throw Error("[backward] nothing to do: no input of this result asks for a gradient");
      }
      Edge edge = edge_to(results[i]);
      send(edge, seed(results[i], grads[i]), queue, !grads[i].defined());
    }
    run_queue(queue);
  } catch (...) {
    for (; !queue.empty(); queue.pop()) forget(*queue.top());
    throw;
  }
}

void Tensor::backward(const Tensor& grad) const { dnn::backward({*this}, {grad}); }

}  // namespace dnn
