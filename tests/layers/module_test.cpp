#include <catch2/catch.hpp>

#include <libdnn/core/scope.h>
#include <libdnn/layers/sequential.h>
#include <libdnn/ops/activation.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

// Keeps its weight but computes nothing with it, so that the registry is tested without any kernel.
struct Leaf : Module {
  explicit Leaf(float value) {
    add_parameter("weight", tensor({value, value}, {2}));
    add_buffer("mean", tensor({0}, {1}));
  }
  Tensor forward(const Tensor& x) override {
    if (x.dims() == 0) throw Error("[leaf] a scalar");
    paths.push_back(scope_path());
    return x;
  }
  std::shared_ptr<Module> clone() const override { return std::make_shared<Leaf>(*this); }

  std::vector<std::string> paths;
};

struct Pair : Module {
  Pair() {
    add_parameter("scale", tensor({1}, {1}));
    add("first", Leaf(1));
    add("second", Leaf(2));
  }
  Tensor forward(const Tensor& x) override { return child("second")(child("first")(x)); }
  std::shared_ptr<Module> clone() const override { return std::make_shared<Pair>(*this); }
};

struct Net : Module {
  Net() {
    add("head", Leaf(3));
    add("body", Pair());
  }
  Tensor forward(const Tensor& x) override { return child("body")(child("head")(x)); }
  std::shared_ptr<Module> clone() const override { return std::make_shared<Net>(*this); }
  using Module::add;
  using Module::add_buffer;
  using Module::add_host_buffer;
  using Module::add_parameter;
};

template <class List>
std::vector<std::string> names(const List& list) {
  std::vector<std::string> result;
  for (const auto& entry : list) result.push_back(entry.name);
  return result;
}

using Names = std::vector<std::string>;

TEST_CASE("module: names in torch's order", "[module]") {
  Net net;
  CHECK(names(net.named_parameters()) == Names{"head.weight", "body.scale", "body.first.weight", "body.second.weight"});
  CHECK(net.parameters().size() == 4);
  CHECK(names(net.named_buffers()) == Names{"head.mean", "body.first.mean", "body.second.mean"});
  CHECK(names(net.named_tensors()) == Names{"head.weight", "head.mean", "body.scale", "body.first.weight",
                                            "body.first.mean", "body.second.weight", "body.second.mean"});
  CHECK(names(net.named_modules()) == Names{"", "head", "body", "body.first", "body.second"});
  CHECK(names(net.children()) == Names{"head", "body"});
  for (const Tensor& parameter : net.parameters()) CHECK(parameter.requires_grad());
  CHECK(net.type_name() == "Net");
  CHECK(net.child("body").type_name() == "Pair");
}

TEST_CASE("module: wrong names are refused", "[module]") {
  Net net;
  CHECK_THROWS_WITH(net.add("head", Leaf(1)), Contains("'head' again"));
  CHECK_THROWS_WITH(net.add("", Leaf(1)), Contains("not empty"));
  CHECK_THROWS_WITH(net.add_parameter("a.b", tensor({1}, {1})), Contains("'a.b'"));
  CHECK_THROWS_WITH(net.add_buffer("body", tensor({1}, {1})), Contains("'body' again"));
  CHECK_THROWS_WITH(net.add("null", std::shared_ptr<Module>()), Contains("'null'"));
  CHECK_THROWS_WITH(net.child("tail"), Contains("Net has no child") && Contains("'tail'"));
  CHECK_THROWS_WITH(net.parameter("weight"), Contains("Net has no parameter"));
}

TEST_CASE("module: what is held twice is listed once but saved under both names", "[module]") {
  Net net;
  const auto shared = std::make_shared<Leaf>(5.0f);
  net.add("left", shared);
  net.add("right", shared);
  net.add_parameter("tied", net.child("head").parameter("weight"));
  CHECK(names(net.named_parameters()) ==
        Names{"tied", "body.scale", "body.first.weight", "body.second.weight", "left.weight"});
  CHECK(names(net.named_modules()) == Names{"", "head", "body", "body.first", "body.second", "left"});
  CHECK(net.named_tensors().size() == 12);

  Net copy = net;
  CHECK(&copy.child("left") == &copy.child("right"));
  CHECK(&copy.child("left") != shared.get());
  CHECK(copy.parameter("tied").impl() == copy.child("head").parameter("weight").impl());
  CHECK(copy.parameter("tied").impl() != net.parameter("tied").impl());
}

TEST_CASE("module: a copy owns its tensors", "[module]") {
  Net net;
  net.eval();
  Net copy = net;
  CHECK_FALSE(copy.training());
  CHECK_FALSE(copy.child("body").child("first").training());
  CHECK(copy.child("head").name() == "head");
  copy.parameters()[0].copy_from(full(copy.parameters()[0].shape(), 7));
  CHECK(net.parameters()[0].to_vector<float>()[0] == 3);
  CHECK(copy.parameters()[0].requires_grad());

  Net assigned;
  assigned = copy;
  CHECK(assigned.parameters()[0].to_vector<float>()[0] == 7);
  CHECK(assigned.parameters()[0].impl() != copy.parameters()[0].impl());

  const std::shared_ptr<Module> cloned = net.clone();
  CHECK(cloned->type_name() == "Net");
  CHECK(names(cloned->named_tensors()) == names(net.named_tensors()));
}

TEST_CASE("module: a class without clone is not cut down to its base", "[module]") {
  struct Forgetful : Leaf {
    Forgetful() : Leaf(1) {}
  };
  Net net;
  net.add("forgetful", Forgetful());
  CHECK_THROWS_WITH(Net(net), Contains("Forgetful must override clone()"));

  struct Derived : Sequential {  // from one of the library's
    Tensor forward(const Tensor& x) override { return x; }
  };
  CHECK_THROWS_WITH(Derived().clone(), Contains("Derived must override clone(); got a Sequential"));
}

TEST_CASE("module: modes are restored one by one, and after an exception", "[module]") {
  Net net;
  net.child("body").eval();
  net.child("body").child("second").train();
  const auto modes = [&] {
    std::vector<bool> list;
    for (const NamedModule& entry : net.named_modules()) list.push_back(entry.module->training());
    return list;
  };
  const std::vector<bool> before = modes();
  try {
    const RestoreModes restore(net);
    net.eval();
    CHECK(modes() == std::vector<bool>(before.size(), false));
    throw Error("stop");
  } catch (const Error&) {
  }
  CHECK(modes() == before);
}

TEST_CASE("module: train, eval, to, zero_grad", "[module]") {
  Net net;
  CHECK(net.child("body").child("second").training());
  net.eval();
  CHECK_FALSE(net.child("body").child("second").training());
  net.train();
  CHECK(net.child("body").child("second").training());

  net.add_host_buffer("count", tensor({5}, {}, "cpu"));
  const Tensor weight = net.child("head").parameter("weight");
  weight.set_grad(full({2}, 1));
  net.to("reference");
  CHECK(weight.device().name() == "reference");
  CHECK(weight.grad().device().name() == "reference");
  CHECK(net.child("head").buffer("mean").device().name() == "reference");
  CHECK(net.buffer("count").device().name() == "cpu");
  Net copy = net;
  copy.to("meta");
  CHECK(copy.buffer("count").item() == 5);
  CHECK(weight.to_vector<float>() == std::vector<float>{3, 3});
  net.zero_grad();
  CHECK_FALSE(weight.grad().defined());
}

TEST_CASE("module: the scope and errors tell the path", "[module]") {
  Net net;
  const Tensor x = tensor({1}, {1});
  net(x);
  net.child("body").child("second")(x);
  CHECK(dynamic_cast<Leaf&>(net.child("head")).paths == Names{"head"});
  CHECK(dynamic_cast<Leaf&>(net.child("body").child("second")).paths == Names{"body.second", "second"});
  CHECK(scope_path().empty());
  CHECK_THROWS_WITH(net.child("body")(tensor({1}, {})), "[leaf] a scalar (in body.first)");
  CHECK(scope_path().empty());
}

TEST_CASE("module: hooks run around forward and can be taken away", "[module]") {
  Net net;
  std::vector<std::string> calls;
  HookHandle pre = net.register_forward_pre_hook(
      [&](Module& m, const TensorList& inputs) { calls.push_back("pre " + m.type_name() + inputs[0].shape().str()); });
  HookHandle post = net.child("head").register_forward_hook([&](Module& m, const TensorList& x, const Tensor& y) {
    calls.push_back("post " + scope_path() + " " + m.name() + (x[0].impl() == y.impl() ? " same" : " other"));
  });
  HookHandle once;
  once = net.register_forward_hook([&](Module&, const TensorList&, const Tensor&) {
    calls.push_back("once");
    once.remove();
  });
  net(tensor({1}, {1}));
  CHECK(calls == Names{"pre Net(1)", "post head head same", "once"});
  post.remove();
  post.remove();
  calls.clear();
  net(tensor({1}, {1}));
  CHECK(calls == Names{"pre Net(1)"});

  calls.clear();
  Net copy = net;
  copy(tensor({1}, {1}));
  CHECK(calls.empty());

  HookHandle late;
  {
    Net gone;
    late = gone.register_forward_pre_hook([](Module&, const TensorList&) {});
  }
  late.remove();
}

TEST_CASE("module: an empty hook is refused", "[module]") {
  Net net;
  CHECK_THROWS_WITH(net.register_forward_hook(nullptr), Contains("[module] a hook") && Contains("Net"));
  CHECK_THROWS_WITH(net.register_forward_pre_hook({}), Contains("[module] a hook") && Contains("Net"));
  CHECK_FALSE(net.has_hooks());
}

TEST_CASE("module: a net in training has at least one head, with a hook and without", "[module]") {
  struct Headless : Module {
    Tensor forward(const Tensor& x) override { return x; }
    TensorList forward_heads(const Tensor&) override { return {}; }
  };
  Headless net;
  const Tensor x = tensor({1}, {1});
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_WITH(net.heads(x), Contains("Headless") && Contains("no head"));
    net.register_forward_hook([](Module&, const TensorList&, const Tensor&) {});
  }
  net.eval();
  CHECK(net.heads(x).size() == 1);
}

TEST_CASE("module: no child is nothing, nor the module that holds it", "[module]") {
  const auto net = std::make_shared<Sequential>(), inner = std::make_shared<Sequential>();
  net->add("inner", std::shared_ptr<Module>(inner));
  CHECK_THROWS_WITH(net->replace(*inner, nullptr), Contains("[replace]") && Contains("null"));
  CHECK_THROWS_WITH(net->add("self", std::shared_ptr<Module>(net)),
                    Contains("[module] 'self' holds the very Sequential"));
  CHECK_THROWS_WITH(inner->add("outer", std::shared_ptr<Module>(net)), Contains("'outer'"));
  CHECK(net->named_modules().size() == 2);
}

}  // namespace
}  // namespace dnn
