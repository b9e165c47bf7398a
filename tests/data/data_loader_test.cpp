#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <limits>
#include <numeric>

#include <libdnn/data/data_loader.h>

namespace dnn {
namespace {

using Catch::Matchers::Contains;

// Sample i is one pixel of value i with label i.
ImageDataset counting(int count) {
  std::vector<uint8_t> pixels(static_cast<size_t>(count));
  std::vector<int32_t> labels(static_cast<size_t>(count));
  std::iota(pixels.begin(), pixels.end(), uint8_t{0});
  std::iota(labels.begin(), labels.end(), 0);
  return {from_vector(pixels, {count, 1, 1, 1}), from_vector(labels, {count}), count};
}

std::vector<int32_t> order_of(DataLoader& loader, int64_t epoch) {
  std::vector<int32_t> order;
  Batch batch;
  loader.start_epoch(epoch);
  while (loader.next(batch)) {
    const std::vector<int32_t> labels = batch.labels.to_vector<int32_t>();
    const std::vector<float> pixels = batch.images.to_vector<float>();
    for (size_t i = 0; i < labels.size(); ++i) REQUIRE(pixels[i] == static_cast<float>(labels[i]) / 255.0f);
    order.insert(order.end(), labels.begin(), labels.end());
  }
  return order;
}

TEST_CASE("data_loader: the last batch is short and counted", "[data_loader]") {
  DataLoader loader(counting(10), {.batch_size = 4});
  CHECK(loader.samples() == 10);
  CHECK(loader.batches() == 3);
  Batch batch;
  std::vector<int> sizes;
  while (loader.next(batch)) sizes.push_back(batch.images.size(0));
  CHECK(sizes == std::vector<int>{4, 4, 2});
  DataLoader whole(counting(10), {.batch_size = 4, .drop_last = true});
  CHECK(whole.samples() == 8);
  CHECK(order_of(whole, 0).size() == 8);
}

TEST_CASE("data_loader: the order follows from seed and epoch", "[data_loader]") {
  DataLoader a(counting(200), {.batch_size = 7, .shuffle = true, .seed = 1});
  DataLoader b(counting(200), {.batch_size = 64, .shuffle = true, .seed = 1});
  DataLoader c(counting(200), {.batch_size = 7, .shuffle = true, .seed = 2});
  const std::vector<int32_t> first = order_of(a, 0), second = order_of(a, 1);
  CHECK(first == order_of(b, 0));
  CHECK(second == order_of(b, 1));
  CHECK(first != second);
  CHECK(first != order_of(c, 0));
  std::vector<int32_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int32_t> all(200);
  std::iota(all.begin(), all.end(), 0);
  CHECK(sorted == all);
  DataLoader plain(counting(200), {.batch_size = 7});
  CHECK(order_of(plain, 3) == all);
}

// A data set of one's own: sample i is the number i, and odd samples are left out.
class Even : public Dataset {
 public:
  int64_t size() const override { return 7; }
  Batch load(const std::vector<int32_t>& samples, RandomState random, const Device& device) override {
    seeds.push_back(random.seed);
    calls.push_back(random.call);
    std::vector<int32_t> even;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(even), [](int32_t i) { return i % 2 == 0; });
    const int count = static_cast<int>(even.size());
    return {zeros({count, 1, 1, 1}, DType::float32, device), from_vector(even, {count}, device)};
  }
  std::vector<uint64_t> seeds, calls;
};

TEST_CASE("data_loader: a data set of one's own, which may leave samples out", "[data_loader]") {
  const auto even = std::make_shared<Even>();
  DataLoader loader(even, {.batch_size = 1, .seed = 3});
  Batch batch;
  std::vector<int32_t> labels;
  while (loader.next(batch)) labels.push_back(batch.labels.to_vector<int32_t>().at(0));
  CHECK(labels == std::vector<int32_t>{0, 2, 4, 6});
  CHECK(even->seeds == std::vector<uint64_t>(7, 3));
  CHECK(even->calls == std::vector<uint64_t>(7, even->calls.at(0)));
  loader.start_epoch(1);
  REQUIRE(loader.next(batch));
  CHECK(even->calls.back() != even->calls.front());
}

TEST_CASE("data_loader: after its end was told once, the next epoch begins", "[data_loader]") {
  DataLoader loader(counting(50), {.batch_size = 20, .shuffle = true, .seed = 4}),
      other(counting(50), {.batch_size = 20, .shuffle = true, .seed = 4});
  std::vector<std::vector<int32_t>> epochs;
  Batch batch;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int32_t>& order = epochs.emplace_back();
    while (loader.next(batch)) {
      const std::vector<int32_t> labels = batch.labels.to_vector<int32_t>();
      order.insert(order.end(), labels.begin(), labels.end());
    }
    CHECK_FALSE(batch.images.defined());
  }
  for (int epoch = 0; epoch < 3; ++epoch) CHECK(epochs[static_cast<size_t>(epoch)] == order_of(other, epoch));
  CHECK(epochs[0] != epochs[1]);

  // From wherever one starts, and not before the end.
  loader.start_epoch(7);
  REQUIRE(loader.next(batch));
  loader.start_epoch(5);
  while (loader.next(batch)) {
  }
  REQUIRE(loader.next(batch));
  const std::vector<int32_t> sixth = order_of(other, 6);
  CHECK(batch.labels.to_vector<int32_t>() == std::vector<int32_t>(sixth.begin(), sixth.begin() + 20));
  while (loader.next(batch)) {
  }
  loader.start_epoch(6);
  REQUIRE(loader.next(batch));
  CHECK(batch.labels.to_vector<int32_t>() == std::vector<int32_t>(sixth.begin(), sixth.begin() + 20));

  // An epoch of no batch ends each time.
  DataLoader none(counting(3), {.batch_size = 4, .drop_last = true});
  for (int i = 0; i < 3; ++i) CHECK_FALSE(none.next(batch));
}

TEST_CASE("data_loader: bad arguments", "[data_loader]") {
  for (const int size : {0, -1, std::numeric_limits<int>::min()}) {
    CHECK_THROWS_WITH(DataLoader(counting(3), {.batch_size = size}),
                      Contains("batch_size") && Contains("got " + std::to_string(size)));
  }
  CHECK_THROWS_WITH(DataLoader(ImageDataset{}, {}), Contains("empty"));
  DataLoader loader(counting(3), {.batch_size = std::numeric_limits<int>::max()});
  CHECK(loader.batches() == 1);
  CHECK_THROWS_WITH(loader.start_epoch(-1), Contains("[data_loader]") && Contains("got -1"));
  CHECK_THROWS_WITH(loader.start_epoch(int64_t{1} << 62), Contains("[data_loader]") && Contains("epoch"));
  loader.start_epoch((int64_t{1} << 62) - 1);
  Batch batch;
  CHECK(loader.next(batch));
  CHECK_THROWS_WITH(counting(3).first(-1), Contains("[dataset]") && Contains("got -1"));
  CHECK_THROWS_WITH(ImageDataset{}.first(-1), Contains("[dataset]") && Contains("got -1"));
  CHECK(counting(3).first(0).size() == 0);
}

// A data set of one's own that hands out what it is told to.
class Given : public Dataset {
 public:
  explicit Given(Batch batch) : batch_(std::move(batch)) {}
  int64_t size() const override { return size_; }
  Batch load(const std::vector<int32_t>&, RandomState, const Device&) override { return batch_; }
  int64_t size_ = 6;

 private:
  Batch batch_;
};

TEST_CASE("data_loader: a batch that can't be one is an error that says why", "[data_loader]") {
  const auto answer = [](const Tensor& images, const Tensor& labels) -> std::string {
    DataLoader loader(std::make_shared<Given>(Batch{images, labels}), {.batch_size = 6});
    Batch batch;
    try {
      return loader.next(batch) ? "accepted" : "empty";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const Tensor six = zeros({6}, DType::int32);
  CHECK_THAT(answer(zeros({5, 2, 2, 1}), six), Contains("[data_loader]") && Contains("5 images and 6 labels"));
  CHECK_THAT(answer(zeros({6, 2, 2, 1}), zeros({5}, DType::int32)), Contains("6 images and 5 labels"));
  CHECK_THAT(answer(zeros({6, 2, 2, 1}), zeros({0}, DType::int32)), Contains("6 images and 0 labels"));
  CHECK_THAT(answer(zeros({0, 2, 2, 1}), six), Contains("0 images and 6 labels"));
  CHECK_THAT(answer(zeros({7, 2, 2, 1}), zeros({7}, DType::int32)), Contains("7 samples") && Contains("6 were"));
  CHECK_THAT(answer(Tensor(), six), Contains("images") && Contains("undefined"));
  CHECK_THAT(answer(zeros({6, 1}), Tensor()), Contains("labels") && Contains("undefined"));
  CHECK_THAT(answer(zeros({}), six), Contains("images") && Contains("()"));
  CHECK_THAT(answer(zeros({6, 1}), zeros({}, DType::int32)), Contains("labels") && Contains("()"));
  for (const DType dtype : {DType::uint8}) {
    CHECK_THAT(answer(zeros({6, 1}), zeros({6}, dtype)),
               Contains("labels") && Contains("got " + std::string(name_of(dtype))));
  }
  for (const DType dtype : {DType::uint8, DType::int32}) {
    CHECK_THAT(answer(zeros({6, 1}, dtype), six), Contains("images") && Contains("got " + std::string(name_of(dtype))));
  }
  CHECK_THAT(answer(zeros({6, 1}, DType::float32, "reference"), six), Contains("images") && Contains("on reference"));
  CHECK_THAT(answer(zeros({6, 1}), zeros({6}, DType::int32, "reference")),
             Contains("labels") && Contains("on reference"));

  // Samples left out, labels of each pixel, targets that are numbers, and features instead of pictures.
  CHECK(answer(zeros({5, 2, 2, 1}), zeros({5}, DType::int32)) == "accepted");
  CHECK(answer(zeros({0, 2, 2, 1}), zeros({0}, DType::int32)) == "empty");
  CHECK(answer(zeros({6, 2, 2, 1}), zeros({6, 2, 2}, DType::int32)) == "accepted");
  CHECK(answer(zeros({6, 8}), zeros({6, 3})) == "accepted");
}

// Sample i is a picture of i + 1 rows.
class Growing : public Dataset {
 public:
  int64_t size() const override { return 3; }
  Batch load(const std::vector<int32_t>& samples, RandomState, const Device& device) override {
    return {zeros({1, samples.at(0) + 1, 2, 1}, DType::float32, device), from_vector(samples, {1}, device)};
  }
};

TEST_CASE("data_loader: pictures may have another size in the next batch", "[data_loader]") {
  DataLoader loader(std::make_shared<Growing>(), {.batch_size = 1});
  std::vector<int> rows;
  for (Batch batch; loader.next(batch);) rows.push_back(batch.images.size(1));
  CHECK(rows == std::vector<int>{1, 2, 3});
}

TEST_CASE("data_loader: a set that grows afterwards keeps the samples it had", "[data_loader]") {
  const auto set = std::make_shared<Given>(Batch{zeros({1, 1}), zeros({1}, DType::int32)});
  DataLoader loader(set, {.batch_size = 1});
  set->size_ = 1000;
  CHECK(loader.samples() == 6);
  CHECK(loader.batches() == 6);
  int batches = 0;
  for (Batch batch; loader.next(batch);) ++batches;
  CHECK(batches == 6);
}

TEST_CASE("data_loader: pictures and labels must fit each other", "[data_loader]") {
  ImageDataset few = counting(3);
  few.labels = from_vector<int32_t>({1, 2}, {2});
  CHECK_THROWS_WITH(DataLoader(few, {}), Contains("each of 3 pictures has a label") && Contains("(2)"));
  few.labels = zeros({3});
  CHECK_THROWS_WITH(DataLoader(few, {}), Contains("int32") && Contains("float32 (3)"));
  few = counting(3);
  few.images = zeros({3, 1, 1, 1});
  CHECK_THROWS_WITH(DataLoader(few, {}), Contains("uint8 (N, H, W, C); got float32"));
  CHECK_THROWS_WITH(DataLoader(std::shared_ptr<Dataset>(), {}), Contains("null"));
}

}  // namespace
}  // namespace dnn
