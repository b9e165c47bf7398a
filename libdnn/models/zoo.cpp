#include <libdnn/models/zoo.h>

#include <fmt/format.h>

#include <libdnn/models/alexnet.h>
#include <libdnn/models/googlenet.h>
#include <libdnn/models/inception_v3.h>
#include <libdnn/models/lenet.h>
#include <libdnn/models/mnist_cnn.h>
#include <libdnn/models/mobilenet.h>
#include <libdnn/models/resnet.h>
#include <libdnn/models/squeezenet.h>
#include <libdnn/models/vgg.h>

namespace dnn {
namespace {

template <auto make>
std::shared_ptr<Module> shared(int classes) {
  return std::make_shared<decltype(make(classes))>(make(classes));
}

// Of nets whose published weights come from Caffe: blue first, pixels of 0 to 255 less ImageNet's mean colour.
constexpr Preprocessing caffe_preprocessing(int crop) {
  constexpr float kUnit = 1 / 255.0F;
  return {.resize = 256,
          .crop_height = crop,
          .crop_width = crop,
          .mean = {104 * kUnit, 117 * kUnit, 123 * kUnit},
          .std = {kUnit, kUnit, kUnit},
          .bgr = true};
}

constexpr Preprocessing kMnist{.resize = 28, .crop_height = 28, .crop_width = 28, .grey = true};
constexpr Preprocessing kCifar = imagenet_preprocessing(32, 32);
constexpr Preprocessing kImagenet = imagenet_preprocessing(), kInception = imagenet_preprocessing(299, 342);

}  // namespace

const std::vector<ZooEntry>& zoo() {
  // Never destroyed: the destructors of static variables may use them.
  static const std::vector<ZooEntry>& entries = *new std::vector<ZooEntry>{
      {"mnist_cnn", shared<mnist_cnn>, 28, 28, 1, 10, kMnist},
      {"lenet", shared<lenet>, 28, 28, 1, 10, kMnist},
      {"alexnet", shared<alexnet>, 224, 224, 3, 1000, kImagenet},
      {"caffe_alexnet", shared<caffe_alexnet>, 227, 227, 3, 1000, caffe_preprocessing(227)},
      {"googlenet", shared<googlenet>, 224, 224, 3, 1000, kImagenet},
      {"caffe_googlenet", shared<caffe_googlenet>, 224, 224, 3, 1000, caffe_preprocessing(224)},
      {"inception_v3", shared<inception_v3>, 299, 299, 3, 1000, kInception},
      {"mobilenet_v2", shared<mobilenet_v2>, 224, 224, 3, 1000, kImagenet},
      {"mobilenet_v3_small", shared<mobilenet_v3_small>, 224, 224, 3, 1000, kImagenet},
      {"mobilenet_v3_large", shared<mobilenet_v3_large>, 224, 224, 3, 1000, kImagenet},
      {"resnet18", shared<resnet18>, 224, 224, 3, 1000, kImagenet},
      {"resnet34", shared<resnet34>, 224, 224, 3, 1000, kImagenet},
      {"resnet50", shared<resnet50>, 224, 224, 3, 1000, kImagenet},
      {"resnet101", shared<resnet101>, 224, 224, 3, 1000, kImagenet},
      {"resnet152", shared<resnet152>, 224, 224, 3, 1000, kImagenet},
      {"resnet20", shared<resnet20>, 32, 32, 3, 10, kCifar},
      {"squeezenet1_0", shared<squeezenet1_0>, 224, 224, 3, 1000, kImagenet},
      {"squeezenet1_1", shared<squeezenet1_1>, 224, 224, 3, 1000, kImagenet},
      {"vgg11", shared<vgg11>, 224, 224, 3, 1000, kImagenet},
      {"vgg13", shared<vgg13>, 224, 224, 3, 1000, kImagenet},
      {"vgg16", shared<vgg16>, 224, 224, 3, 1000, kImagenet},
      {"vgg19", shared<vgg19>, 224, 224, 3, 1000, kImagenet},
      {"vgg11_bn", shared<vgg11_bn>, 224, 224, 3, 1000, kImagenet},
      {"vgg13_bn", shared<vgg13_bn>, 224, 224, 3, 1000, kImagenet},
      {"vgg16_bn", shared<vgg16_bn>, 224, 224, 3, 1000, kImagenet},
      {"vgg19_bn", shared<vgg19_bn>, 224, 224, 3, 1000, kImagenet},
  };
  return entries;
}

const ZooEntry& zoo_entry(const std::string& name) {
  std::string names;
  for (const ZooEntry& entry : zoo()) {
    if (entry.name == name) return entry;
    names += names.empty() ? entry.name : fmt::format(", {}", entry.name);
  }
  throw Error(fmt::format("[zoo] there is {}; got '{}'", names, name));
}

}  // namespace dnn
