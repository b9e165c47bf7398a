#pragma once
#include <libdnn/layers/layers.h>

namespace dnn {

// "Going deeper with convolutions" (Szegedy et al., CVPR 2015), pictures (N,
// 224, 224, 3). While training there are three heads, the main one and two
// auxiliary ones, whose losses count 0.3 each.

struct GoogLeNetOptions {
  int classes = 1000;
  bool aux_heads = true;
  bool transform_input = false;  // torchvision's pretrained weights want it with
                                 // its usual preprocessing
};

// As torchvision has it: batch norm, and 3x3 convolutions where the paper has
// 5x5. heads(): main, aux2, aux1.
class GoogLeNet : public Block {
 public:
  explicit GoogLeNet(const GoogLeNetOptions& options);
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  std::vector<double> head_weights() const override;

 protected:
  Tensor forward(const Tensor& x) override { return run(x, nullptr); }
  TensorList forward_heads(const Tensor& x) override;

 private:
  Tensor run(const Tensor& x,
             TensorList* aux) const;  // adds the auxiliary results where `aux` is given

  GoogLeNetOptions options_;
};

GoogLeNet googlenet(int classes = 1000);

// As Caffe has it: local response normalisation, 5x5 convolutions, Caffe's
// names. heads(): loss3, loss2, loss1.
class CaffeGoogLeNet : public Block {
 public:
  explicit CaffeGoogLeNet(int classes);
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  std::vector<double> head_weights() const override { return {1, 0.3, 0.3}; }

 protected:
  Tensor forward(const Tensor& x) override { return run(x, nullptr); }
  TensorList forward_heads(const Tensor& x) override;

 private:
  void add_conv(const std::string& name, int in, int out, int kernel_size, int stride = 1);
  Tensor inception(const std::string& name, const Tensor& x) const;
  Tensor head(const std::string& name, const Tensor& x) const;
  Tensor run(const Tensor& x, TensorList* aux) const;
};

CaffeGoogLeNet caffe_googlenet(int classes = 1000);

}  // namespace dnn
