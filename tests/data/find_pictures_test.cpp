#include <libdnn/data/find_pictures.h>

#include <catch2/catch.hpp>

#include <libdnn/data/image_folder.h>

#include "../files.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

// A folder of files that are called like pictures and named below it.
void write_all(const TemporaryFolder& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    fs::create_directories(fs::path(folder.path(name)).parent_path());
    folder.write(name, "");
  }
}

std::vector<std::string> within(const TemporaryFolder& folder, const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(folder.path(name));
  return paths;
}

TEST_CASE("find_pictures: a link to a folder above is not followed, and any folder is read once", "[image_folder]") {
  const TemporaryFolder folder;
  write_all(folder, {"set/cat/a.png", "set/cat/deep/b.png", "set/dog/c.png", "beside/d.png", "beside/more/e.png"});
  for (const char* link : {"set/cat/up", "set/cat/deep/root", "set/dog/self", "set/dog/above", "beside/more/back"}) {
    const bool above = std::string(link) == "set/dog/above";
    fs::create_directory_symlink(
        above ? folder.path() : folder.path(std::string(link).starts_with("beside") ? "beside" : "set"),
        folder.path(link));
  }
  fs::create_directory_symlink("deep", folder.path("set/cat/another"));
  fs::create_directory_symlink(folder.path("set/cat"), folder.path("set/cat/deep/cat"));
  const ImageFiles files = find_images(folder.path("set"));
  CHECK(files.paths == within(folder, {"set/cat/a.png", "set/cat/deep/b.png", "set/dog/c.png"}));
  CHECK(files.labels == std::vector<int32_t>{0, 0, 1});
  CHECK(files.hidden.empty());

  // One to elsewhere is, once, by the first of its names, together with what is below.
  fs::create_directory_symlink(folder.path("beside"), folder.path("set/dog/x"));
  fs::create_directory_symlink(folder.path("beside/more"), folder.path("set/dog/a"));
  fs::create_directory_symlink(folder.path("beside"), folder.path("set/dog/y"));
  CHECK(find_images(folder.path("set")).paths == within(folder, {"set/cat/a.png", "set/cat/deep/b.png", "set/dog/c.png",
                                                                 "set/dog/a/e.png", "set/dog/a/back/d.png"}));

  // A class may be a link, and what leads back from there ends.
  fs::create_directory_symlink(folder.path("beside"), folder.path("set/eel"));
  const ImageFiles linked = find_images(folder.path("set"));
  CHECK(linked.class_names == std::vector<std::string>{"cat", "dog", "eel"});
  CHECK(std::vector<std::string>(linked.paths.end() - 2, linked.paths.end()) ==
        within(folder, {"set/eel/d.png", "set/eel/more/e.png"}));
}

TEST_CASE("find_pictures: hidden folders and pictures are left out and told", "[image_folder]") {
  const TemporaryFolder folder;
  write_all(folder, {".git/x.png", "__MACOSX/cat/._a.png", ".ipynb_checkpoints/a.png", "cat/a.png", "cat/._a.png",
                     "cat/.DS_Store", "cat/.ipynb_checkpoints/a-checkpoint.png", "cat/deep/__MACOSX/b.png",
                     "cat/deep/_.png", "cat/deep/b.c.jpg"});
  const ImageFiles files = find_images(folder.path());
  CHECK(files.class_names == std::vector<std::string>{"cat"});
  CHECK(files.paths == within(folder, {"cat/a.png", "cat/deep/_.png", "cat/deep/b.c.jpg"}));
  CHECK(files.hidden == within(folder, {".git", ".ipynb_checkpoints", "__MACOSX", "cat/._a.png",
                                        "cat/.ipynb_checkpoints", "cat/deep/__MACOSX"}));
  // The folder that one names may be called as it likes.
  CHECK(find_pictures(folder.path(".git")).paths == within(folder, {".git/x.png"}));
  const FoundPictures flat = find_pictures(folder.path("cat"), false);
  CHECK(flat.paths == within(folder, {"cat/a.png"}));
  CHECK(flat.hidden == within(folder, {"cat/._a.png"}));

  const TemporaryFolder nothing;
  write_all(nothing, {"cat/._a.png"});
  CHECK_THROWS_WITH(find_images(nothing.path()), Contains("no file .jpg") && Contains(nothing.path("cat")));
  write_all(nothing, {".cat/a.png"});
  CHECK_THROWS_WITH(find_images(nothing.path(".cat")), Contains("no folder of a class"));
}

TEST_CASE("find_pictures: a link to nothing is a picture that can't be read, not none", "[image_folder]") {
  const TemporaryFolder folder;
  write_all(folder, {"cat/a.png"});
  fs::create_symlink(folder.path("nowhere"), folder.path("cat/b.png"));
  fs::create_symlink("c.png", folder.path("cat/c.png"));  // itself
  fs::create_symlink("loop", folder.path("cat/loop"));
  fs::create_symlink("loop", folder.path("loop"));
  fs::create_directories(folder.path("cat/folder.png"));
  const ImageFiles files = find_images(folder.path());
  CHECK(files.paths == within(folder, {"cat/a.png", "cat/b.png", "cat/c.png"}));
  ImageFolder images(files, {});
  CHECK_THROWS_WITH(images.load({1}, {}, "cpu"), Contains(folder.path("cat/b.png")));
  CHECK_THROWS_WITH(find_pictures(folder.path("none")), Contains(folder.path("none")));
  CHECK_THROWS_WITH(find_pictures(folder.path("cat/a.png")), Contains(folder.path("cat/a.png")));
}

}  // namespace
}  // namespace dnn
