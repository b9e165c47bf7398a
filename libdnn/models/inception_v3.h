#pragma once
#include <libdnn/layers/layers.h>

namespace dnn {

// "Rethinking the Inception architecture for computer vision" (Szegedy et al.,
// CVPR 2016) as torchvision has it: pictures (N, 299, 299, 3). While training
// there are two heads, the main and an auxiliary one, whose loss counts 0.4.

struct InceptionV3Options {
  int classes = 1000;
  bool aux_heads = true;
  bool transform_input = false;  // torchvision's pretrained weights want it with
                                 // its usual preprocessing
};

class InceptionV3 : public Block {
 public:
  explicit InceptionV3(const InceptionV3Options& options);
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  std::vector<double> head_weights() const override;

 protected:
  Tensor forward(const Tensor& x) override { return run(x, nullptr); }
  TensorList forward_heads(const Tensor& x) override;

 private:
  Tensor run(const Tensor& x,
             TensorList* aux) const;  // adds the auxiliary result where `aux` is given

  InceptionV3Options options_;
};

InceptionV3 inception_v3(int classes = 1000);

}  // namespace dnn
