#include <libdnn/data/image_folder.h>

#include <catch2/catch.hpp>

#include <libdnn/data/data_loader.h>

#include "pictures.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

// A picture that can be told from the others by its red.
std::string red(int value, int height = 8, int width = 8) {
  return bmp_bytes(plain_picture(height, width, static_cast<uint8_t>(value), 0, 255));
}

// cat: 2 pictures, and 1 in a folder below; dog: 2.
void write_animals(const TemporaryFolder& folder) {
  std::filesystem::create_directories(folder.path("dog"));
  std::filesystem::create_directories(folder.path("cat/more"));
  folder.write("dog/b.BMP", red(4));
  folder.write("dog/a.bmp", red(3));
  folder.write("cat/z z.bmp", red(1));
  folder.write("cat/a.bmp", red(0));
  folder.write("cat/more/0.bmp", red(2));
  folder.write("cat/notes.txt", "no picture");
  folder.write("readme.bmp", "beside the classes");
}

constexpr Preprocessing kSmall{.resize = 6, .crop_height = 4, .crop_width = 4};

std::vector<int> reds(const Batch& batch) {
  const std::vector<float> pixels = batch.images.to_vector<float>();
  std::vector<int> values;
  const size_t step = pixels.size() / static_cast<size_t>(std::max(batch.images.size(0), 1));
  for (size_t i = 0; i < pixels.size(); i += step) values.push_back(static_cast<int>(pixels[i] * 255 + 0.5F));
  return values;
}

TEST_CASE("image_folder: classes and pictures come in the order of their names", "[image_folder]") {
  const TemporaryFolder folder;
  write_animals(folder);
  const auto animals = std::make_shared<ImageFolder>(folder.path(), ImageFolderOptions{kSmall});
  CHECK(animals->files().class_names == std::vector<std::string>{"cat", "dog"});
  CHECK(animals->files().classes == 2);
  REQUIRE(animals->size() == 5);

  DataLoader loader(animals, {.batch_size = 3});
  Batch batch;
  REQUIRE(loader.next(batch));
  CHECK(batch.images.shape() == Shape{3, 4, 4, 3});
  CHECK(reds(batch) == std::vector{0, 1, 2});
  CHECK(batch.labels.to_vector<int32_t>() == std::vector<int32_t>{0, 0, 0});
  CHECK(batch.images.to_vector<float>() ==
        preprocess({plain_picture(8, 8, 0, 0, 255), plain_picture(8, 8, 1, 0, 255), plain_picture(8, 8, 2, 0, 255)},
                   kSmall)
            .to_vector<float>());
  REQUIRE(loader.next(batch));
  CHECK(reds(batch) == std::vector{3, 4});
  CHECK(batch.labels.to_vector<int32_t>() == std::vector<int32_t>{1, 1});
  CHECK_FALSE(loader.next(batch));
}

TEST_CASE("image_folder: a folder without classes or pictures is refused by name", "[image_folder]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(find_images(folder.path()), Contains(folder.path()) && Contains("no folder of a class"));
  CHECK_THROWS_WITH(find_images(folder.path("none")), Contains(folder.path("none")));
  write_animals(folder);
  std::filesystem::create_directories(folder.path("empty"));
  CHECK_THROWS_WITH(find_images(folder.path()), Contains(folder.path("empty")));
}

TEST_CASE("image_folder: options that make no sense are refused before a picture is read", "[image_folder]") {
  const ImageFiles files{{"nowhere.png"}, {0}, 1, {}};
  CHECK_THROWS_WITH(ImageFolder(files, {.preprocessing = {.resize = 6}}), Contains("crop"));
  CHECK_THROWS_WITH(ImageFolder(files, {.preprocessing = {.crop_height = 2, .crop_width = 2, .std = {1, 0, 1}}}),
                    Contains("std"));
  CHECK_THROWS_WITH(ImageFolder(files, {.augmentation = Augmentation{.least_area = 0}}), Contains("area 0 to 1"));
  CHECK_THROWS_WITH(ImageFolder(files, {.augmentation = Augmentation{.most_ratio = 0.5}}), Contains("to 0.5"));
  CHECK_THROWS_WITH(ImageFolder(files, {.augmentation = Augmentation{.flip = 2}}), Contains("flip 2"));
  CHECK_THROWS_WITH(ImageFolder(ImageFiles{{"a.png"}, {}, 1, {}}, {}), Contains("1 and 0"));
  CHECK_THROWS_WITH(ImageFolder(ImageFiles{{"a.png"}, {-1}, 1, {}}, {}), Contains("label -1 of a.png"));
  CHECK_THROWS_WITH(ImageFolder(ImageFiles{{"a.png"}, {3}, 3, {}}, {}), Contains("label 3 of a.png"));
  CHECK_THROWS_WITH(ImageFolder(ImageFiles{{"a.png"}, {0}, -1, {}}, {}), Contains("got -1"));
  for (const int32_t none : {-1, 1}) {
    CHECK_THROWS_WITH(ImageFolder(files, {}).load({none}, {}, "cpu"),
                      Contains("no sample " + std::to_string(none) + " in a set of 1"));
  }
}

TEST_CASE("image_folder: parts follow from seed, epoch and picture alone", "[image_folder]") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("noise"));
  for (int i = 0; i < 6; ++i) folder.write("noise/" + std::to_string(i) + ".bmp", bmp_bytes(noise_picture()));
  const auto data = std::make_shared<ImageFolder>(folder.path(), ImageFolderOptions{kSmall, Augmentation{}});
  const auto pixels = [&](int batch_size, uint64_t seed, int64_t epoch) {
    DataLoader loader(data, {.batch_size = batch_size, .seed = seed});
    loader.start_epoch(epoch);
    std::vector<float> all;
    Batch batch;
    while (loader.next(batch)) {
      const std::vector<float> values = batch.images.to_vector<float>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  const std::vector<float> first = pixels(6, 1, 0);
  CHECK(pixels(4, 1, 0) == first);
  CHECK(pixels(6, 1, 1) != first);
  CHECK(pixels(6, 2, 0) != first);
  const size_t one = first.size() / 6;
  CHECK_FALSE(std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(one),
                         first.begin() + static_cast<std::ptrdiff_t>(one)));
  const int threads = num_threads();
  set_num_threads(threads == 1 ? 4 : 1);
  CHECK(pixels(6, 1, 0) == first);
  set_num_threads(threads);

  // Another order brings the same part of each picture.
  const Batch backwards = data->load({5, 0}, {1, 7}, "cpu"), forwards = data->load({0, 5}, {1, 7}, "cpu");
  const std::vector<float> b = backwards.images.to_vector<float>(), f = forwards.images.to_vector<float>();
  CHECK(std::equal(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(one),
                   f.begin() + static_cast<std::ptrdiff_t>(one)));
}

TEST_CASE("image_folder: a damaged picture is an error with its name, or left out and counted", "[image_folder]") {
  const TemporaryFolder folder;
  write_animals(folder);
  folder.write("cat/more/0.bmp", red(2).substr(0, 60));
  folder.write("dog/a.bmp", "");
  folder.write("dog/c.bmp", red(9, 1, 4096));
  Preprocessing steps = kSmall;
  ImageFolder strict(folder.path(), {steps});
  CHECK_THROWS_WITH(strict.load({0, 1, 2, 3}, {}, "cpu"), Contains(folder.path("cat/more/0.bmp")));
  CHECK_THROWS_WITH(strict.load({3, 2}, {}, "cpu"), Contains(folder.path("dog/a.bmp")));
  steps.resize = 10000;
  CHECK_THROWS_WITH(ImageFolder(folder.path(), {steps}).load({5}, {}, "cpu"),
                    Contains(folder.path("dog/c.bmp")) && Contains("grows beyond"));

  const auto data = std::make_shared<ImageFolder>(folder.path(), ImageFolderOptions{kSmall, {}, true});
  DataLoader loader(data, {.batch_size = 2});
  std::vector<int> seen;
  for (int epoch = 0; epoch < 2; ++epoch) {
    loader.start_epoch(epoch);
    Batch batch;
    while (loader.next(batch)) {
      CHECK(batch.images.size(0) == batch.labels.size(0));
      for (const int value : reds(batch)) seen.push_back(value);
    }
  }
  CHECK(seen == std::vector{0, 1, 4, 9, 0, 1, 4, 9});  // the second batch of two would be empty
  CHECK(data->skipped() == std::vector{folder.path("cat/more/0.bmp"), folder.path("dog/a.bmp")});
  CHECK(loader.samples() == 6);
}

TEST_CASE("image_list: names with blanks, CR LF, trailing blanks and empty lines are fine", "[image_folder]") {
  const TemporaryFolder folder;
  write_animals(folder);
  const std::string list = folder.write("list.txt", "dog/a.bmp 7\r\ncat/z z.bmp\t0  \t\r\n  \ncat/more/0.bmp   3\n\n");
  const ImageFiles files = read_image_list(list, folder.path());
  CHECK(files.paths ==
        std::vector{folder.path("dog/a.bmp"), folder.path("cat/z z.bmp"), folder.path("cat/more/0.bmp")});
  CHECK(files.labels == std::vector<int32_t>{7, 0, 3});
  CHECK(files.classes == 8);
  CHECK(read_image_list(list, folder.path(), 10).classes == 10);
  ImageFolder data(files, {kSmall});
  CHECK(reds(data.load({0, 1, 2}, {}, "cpu")) == std::vector{3, 1, 2});
  const std::string absolute = folder.write("absolute.txt", folder.path("dog/a.bmp") + " 1");
  CHECK(read_image_list(absolute, "").paths == std::vector{folder.path("dog/a.bmp")});
}

TEST_CASE("image_list: a fault is named with file and line", "[image_folder]") {
  const TemporaryFolder folder;
  write_animals(folder);
  const auto refusal = [&](const std::string& content, int classes = 5) -> std::string {
    const std::string list = folder.write("list.txt", content);
    try {
      read_image_list(list, folder.path(), classes);
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Contains(list));
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(refusal("dog/a.bmp 1\n\ndog/none.bmp 1\n"), Contains("list.txt:3: ") && Contains("dog/none.bmp"));
  CHECK_THAT(refusal("dog 1"), Contains("list.txt:1: ") && Contains("dog"));
  CHECK_THAT(refusal("dog/a.bmp 1\ndog/b.BMP\n"), Contains("list.txt:2: ") && Contains("dog/b.BMP"));
  for (const char* label : {"one", "1.5", "1x", "-1", "5", "99999999999", "0x1", "+1"}) {
    CHECK_THAT(refusal(std::string("dog/a.bmp ") + label),
               Contains("list.txt:1: ") && Contains("from 0 to 4") && Contains(std::string("'") + label + "'"));
  }
  CHECK_THAT(refusal("dog/a.bmp 2147483647", 0), Contains("from 0 to 2147483646"));
  CHECK_THAT(refusal("dog/a.bmp 2147483646", 0), Contains("accepted"));
  CHECK_THAT(refusal(" 1"), Contains("list.txt:1: "));
  CHECK_THAT(refusal(""), Contains("names no picture"));
  CHECK_THAT(refusal("\r\n \n"), Contains("names no picture"));
  CHECK_THROWS_WITH(read_image_list("any", "", -1), Contains("got -1"));
  CHECK_THROWS_WITH(read_image_list(folder.path("nowhere.txt"), ""), Contains("nowhere.txt"));
  CHECK_THROWS_WITH(read_image_list(folder.path(), ""), Contains(folder.path()));
}

}  // namespace
}  // namespace dnn
