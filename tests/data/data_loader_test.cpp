#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
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

TEST_CASE("data_loader: bad arguments", "[data_loader]") {
  CHECK_THROWS_WITH(DataLoader(counting(3), {.batch_size = 0}), Contains("batch_size") && Contains("0"));
  CHECK_THROWS_WITH(DataLoader(ImageDataset{}, {}), Contains("empty"));
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
