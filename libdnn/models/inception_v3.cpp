#include <libdnn/models/inception_v3.h>

#include <libdnn/layers/init.h>
#include <libdnn/models/basic_conv.h>
#include <libdnn/ops/concat.h>

namespace dnn {
namespace {

// The five kinds of blocks, by the letters that torchvision gives them. All are
// branches side by side; each convolution is a child of the block itself, as
// the names of the weights have it.
class InceptionBlock : public Block {
 protected:
  void add_conv(const char* name, int in, int out, Size2 kernel_size, int stride = 1) {
    const Padding2 same(kernel_size.h / 2, kernel_size.w / 2);
    add(name, basic_conv(in, out, kernel_size, {.stride = stride, .padding = stride == 1 ? same : Padding2(0)}));
  }
};

class InceptionA : public InceptionBlock {
 public:
  InceptionA(int in, int pool_features) {
    add_conv("branch1x1", in, 64, 1);
    add_conv("branch5x5_1", in, 48, 1);
    add_conv("branch5x5_2", 48, 64, 5);
    add_conv("branch3x3dbl_1", in, 64, 1);
    add_conv("branch3x3dbl_2", 64, 96, 3);
    add_conv("branch3x3dbl_3", 96, 96, 3);
    add_conv("branch_pool", in, pool_features, 1);
    add("pool", AvgPool2d({.kernel_size = 3, .stride = 1, .padding = 1}));
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    return concat({chain(x, {"branch1x1"}), chain(x, {"branch5x5_1", "branch5x5_2"}),
                   chain(x, {"branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"}), chain(x, {"pool", "branch_pool"})},
                  -1);
  }
};

class InceptionB : public InceptionBlock {
 public:
  explicit InceptionB(int in) {
    add_conv("branch3x3", in, 384, 3, 2);
    add_conv("branch3x3dbl_1", in, 64, 1);
    add_conv("branch3x3dbl_2", 64, 96, 3);
    add_conv("branch3x3dbl_3", 96, 96, 3, 2);
    add("pool", MaxPool2d(3, 2));
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    return concat(
        {chain(x, {"branch3x3"}), chain(x, {"branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"}), chain(x, {"pool"})},
        -1);
  }
};

class InceptionC : public InceptionBlock {
 public:
  InceptionC(int in, int width) {
    add_conv("branch1x1", in, 192, 1);
    add_conv("branch7x7_1", in, width, 1);
    add_conv("branch7x7_2", width, width, {1, 7});
    add_conv("branch7x7_3", width, 192, {7, 1});
    add_conv("branch7x7dbl_1", in, width, 1);
    add_conv("branch7x7dbl_2", width, width, {7, 1});
    add_conv("branch7x7dbl_3", width, width, {1, 7});
    add_conv("branch7x7dbl_4", width, width, {7, 1});
    add_conv("branch7x7dbl_5", width, 192, {1, 7});
    add_conv("branch_pool", in, 192, 1);
    add("pool", AvgPool2d({.kernel_size = 3, .stride = 1, .padding = 1}));
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    return concat({chain(x, {"branch1x1"}), chain(x, {"branch7x7_1", "branch7x7_2", "branch7x7_3"}),
                   chain(x, {"branch7x7dbl_1", "branch7x7dbl_2", "branch7x7dbl_3", "branch7x7dbl_4", "branch7x7dbl_5"}),
                   chain(x, {"pool", "branch_pool"})},
                  -1);
  }
};

class InceptionD : public InceptionBlock {
 public:
  explicit InceptionD(int in) {
    add_conv("branch3x3_1", in, 192, 1);
    add_conv("branch3x3_2", 192, 320, 3, 2);
    add_conv("branch7x7x3_1", in, 192, 1);
    add_conv("branch7x7x3_2", 192, 192, {1, 7});
    add_conv("branch7x7x3_3", 192, 192, {7, 1});
    add_conv("branch7x7x3_4", 192, 192, 3, 2);
    add("pool", MaxPool2d(3, 2));
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    return concat({chain(x, {"branch3x3_1", "branch3x3_2"}),
                   chain(x, {"branch7x7x3_1", "branch7x7x3_2", "branch7x7x3_3", "branch7x7x3_4"}), chain(x, {"pool"})},
                  -1);
  }
};

class InceptionE : public InceptionBlock {
 public:
  explicit InceptionE(int in) {
    add_conv("branch1x1", in, 320, 1);
    add_conv("branch3x3_1", in, 384, 1);
    add_conv("branch3x3_2a", 384, 384, {1, 3});
    add_conv("branch3x3_2b", 384, 384, {3, 1});
    add_conv("branch3x3dbl_1", in, 448, 1);
    add_conv("branch3x3dbl_2", 448, 384, 3);
    add_conv("branch3x3dbl_3a", 384, 384, {1, 3});
    add_conv("branch3x3dbl_3b", 384, 384, {3, 1});
    add_conv("branch_pool", in, 192, 1);
    add("pool", AvgPool2d({.kernel_size = 3, .stride = 1, .padding = 1}));
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    const Tensor y = chain(x, {"branch3x3_1"});
    const Tensor z = chain(x, {"branch3x3dbl_1", "branch3x3dbl_2"});
    return concat({chain(x, {"branch1x1"}), chain(y, {"branch3x3_2a"}), chain(y, {"branch3x3_2b"}),
                   chain(z, {"branch3x3dbl_3a"}), chain(z, {"branch3x3dbl_3b"}), chain(x, {"pool", "branch_pool"})},
                  -1);
  }
};

Sequential auxiliary(int in, int classes) {
  Sequential head;  // 17 x 17
  head.add("pool", AvgPool2d(5, 3));
  head.add("conv0", basic_conv(in, 128, 1));
  head.add("conv1", basic_conv(128, 768, 5));
  head.add("avgpool", AdaptiveAvgPool2d(1));
  head.add("flatten", Flatten());
  head.add("fc", Linear(768, classes));
  return head;
}

}  // namespace

InceptionV3::InceptionV3(const InceptionV3Options& options) : options_(options) {
  add("transform_input", options.transform_input ? std::shared_ptr<Module>(std::make_shared<TransformInput>())
                                                 : std::make_shared<Identity>());
  add("Conv2d_1a_3x3", basic_conv(3, 32, 3, {.stride = 2}));
  add("Conv2d_2a_3x3", basic_conv(32, 32, 3));
  add("Conv2d_2b_3x3", basic_conv(32, 64, 3, {.padding = 1}));
  add("maxpool1", MaxPool2d(3, 2));
  add("Conv2d_3b_1x1", basic_conv(64, 80, 1));
  add("Conv2d_4a_3x3", basic_conv(80, 192, 3));
  add("maxpool2", MaxPool2d(3, 2));  // 35 x 35 x 192
  add("Mixed_5b", InceptionA(192, 32));
  add("Mixed_5c", InceptionA(256, 64));
  add("Mixed_5d", InceptionA(288, 64));
  add("Mixed_6a", InceptionB(288));  // 17 x 17 x 768
  add("Mixed_6b", InceptionC(768, 128));
  add("Mixed_6c", InceptionC(768, 160));
  add("Mixed_6d", InceptionC(768, 160));
  add("Mixed_6e", InceptionC(768, 192));
  if (options.aux_heads) add("AuxLogits", auxiliary(768, options.classes));
  add("Mixed_7a", InceptionD(768));  // 8 x 8 x 1280
  add("Mixed_7b", InceptionE(1280));
  add("Mixed_7c", InceptionE(2048));
  add("avgpool", AdaptiveAvgPool2d(1));
  add("dropout", Dropout(0.5));
  add("flatten", Flatten());
  add("fc", Linear(2048, options.classes));
  init::weights(*this, init::truncated_normal(0.1), init::truncated_normal(0.1));
  if (options.aux_heads) {
    const Module& aux = child("AuxLogits");
    init::truncated_normal(0.01)(aux.child("conv1").child("conv").parameter("weight"));
    init::truncated_normal(0.001)(aux.child("fc").parameter("weight"));
  }
}

Tensor InceptionV3::run(const Tensor& x, TensorList* aux) const {
  const Tensor y = chain(x, {"transform_input", "Conv2d_1a_3x3", "Conv2d_2a_3x3", "Conv2d_2b_3x3", "maxpool1",
                             "Conv2d_3b_1x1", "Conv2d_4a_3x3", "maxpool2", "Mixed_5b", "Mixed_5c", "Mixed_5d",
                             "Mixed_6a", "Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e"});
  if (aux) aux->push_back(child("AuxLogits")(y));
  return chain(y, {"Mixed_7a", "Mixed_7b", "Mixed_7c", "avgpool", "dropout", "flatten", "fc"});
}

TensorList InceptionV3::forward_heads(const Tensor& x) {
  if (!options_.aux_heads) return {run(x, nullptr)};
  TensorList aux;
  const Tensor y = run(x, &aux);
  return {y, aux[0]};
}

std::vector<double> InceptionV3::head_weights() const {
  return options_.aux_heads ? std::vector<double>{1, 0.4} : std::vector<double>{1};
}

InceptionV3 inception_v3(int classes) { return InceptionV3({.classes = classes}); }

}  // namespace dnn
