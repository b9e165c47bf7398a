#include <catch2/catch.hpp>

#include <iterator>

#include <libdnn/formats/pth.h>

#include "../files.h"
#include "pickles.h"

// Files that lie: none may crash, hang, or take memory that the file doesn't account for.
namespace dnn {
namespace {

using Catch::Matchers::Contains;
using pickles::dict;
using pickles::View;
using pickles::whole;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What reading the file says: "accepted" or the fault.
std::string outcome(const std::string& path) {
  try {
    read_pth(path);
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains(path));
    return error.what();
  }
  return "accepted";
}

const std::string kElements = std::string(24, '\1');  // 6 of 4 bytes

TEST_CASE("pth: views beyond their storage", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bad.pth");
  const auto zip = [&](const View& view) {
    pickles::write_zip(path, whole(dict({{"w", pickles::tensor(view)}})), {{"0", kElements}});
    return outcome(path);
  };
  const auto legacy = [&](const View& view) {
    folder.write("bad.pth", pickles::legacy(dict({{"w", pickles::tensor(view)}}), {{"0", kElements}}, 6));
    return outcome(path);
  };
  constexpr int64_t kHuge = int64_t{1} << 62, kMost = INT64_MAX;
  for (const bool form : {true, false}) {
    const auto read = [&](const View& view) { return form ? zip(view) : legacy(view); };
    CHECK(read({}) == "accepted");
    CHECK(read({.sizes = {3, 2}, .strides = {1, 3}}) == "accepted");
    CHECK(read({.sizes = {}, .strides = {}}) == "accepted");
    CHECK_THAT(read({.offset = 1}), Contains("'w' reaches beyond its storage: element 6 of 6"));
    CHECK_THAT(read({.offset = kMost}), Contains("'w'"));
    CHECK_THAT(read({.offset = -1}), Contains("offset that is none"));
    CHECK_THAT(read({.sizes = {2, 4}}), Contains("beyond its storage"));
    CHECK_THAT(read({.strides = {4, 1}}), Contains("beyond its storage"));
    CHECK_THAT(read({.strides = {-3, 1}}), Contains("that is none"));
    CHECK_THAT(read({.sizes = {2, -3}}), Contains("that is none"));
    CHECK_THAT(read({.sizes = {2, 3}, .strides = {kMost, kMost}}), Contains("strides that cannot be counted"));
    CHECK_THAT(read({.sizes = {kHuge, 3}, .strides = {0, 0}}), Contains("more elements than can be counted"));
    CHECK_THAT(read({.sizes = {kHuge}, .strides = {0}}), Contains("repeats elements"));
    CHECK_THAT(read({.sizes = {7}, .strides = {0}}), Contains("repeats elements: it has 7, its storage 6"));
    CHECK_THAT(read({.sizes = {6}, .strides = {}}), Contains("1 sizes and 0 strides"));
    CHECK_THAT(read({.sizes = {0, 5'000'000'000}, .strides = {1, 1}}),
               Contains("'w' has a shape that no tensor can have"));
    CHECK_THAT(read({.sizes = {1, 1, 1, 1, 1, 1, 1}, .strides = {1, 1, 1, 1, 1, 1, 1}}),
               Contains("'w' has a shape that no tensor can have"));
    CHECK_THAT(read({.numel = 7}), Contains("storage '0'"));
    CHECK_THAT(read({.numel = -1}), Contains("without a key, type or size"));
    CHECK_THAT(read({.numel = kHuge}), Contains("cannot have"));
    CHECK_THAT(read({.storage = "DoubleStorage"}), Contains(form ? "24 bytes instead of 48" : "ends before storage"));
    CHECK_THAT(read({.storage = "ComplexFloatStorage"}), Contains("torch.ComplexFloatStorage is not allowed"));
    CHECK_THAT(read({.key = "1"}), Contains("storage"));
  }
}

TEST_CASE("pth: many names for one tensor take no more memory than the file accounts for", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("many.pth");
  const std::string big(size_t{1} << 16, '\1');
  std::string items =
      dict({}) + "(" + pickles::text("t0") + pickles::tensor({.numel = 1 << 14, .sizes = {1 << 14}, .strides = {1}});
  items += std::string("q\0", 2);
  for (int i = 1; i < 100; ++i) items += pickles::text("t" + std::to_string(i)) + std::string("h\0", 2);
  pickles::write_zip(path, whole(items + "u"), {{"0", big}});
  CHECK_THAT(outcome(path), Contains("more bytes than a file of its size"));
}

TEST_CASE("pth: pickles that are no state dict", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bad.pth");
  const auto read = [&](const std::string& object) {
    pickles::write_zip(path, whole(object), {{"0", kElements}});
    return outcome(path);
  };
  const std::string good = pickles::tensor({});
  CHECK(read(dict({{"a", good}, {"b", "N"}})) == "accepted");
  CHECK(PthFile(path).others() == std::vector<std::string>{"b"});
  CHECK_THAT(read("cos\nsystem\n" + pickles::text("true") + "\x85R"),
             Contains("[read_pth] " + path + ": os.system is not allowed"));
  CHECK_THAT(read(good), Contains("no dict"));
  CHECK_THAT(read("]"), Contains("no dict"));
  CHECK_THAT(read(dict({{"weights", dict({{"w", good}})}, {"epoch", "N"}})), Contains("it has weights, epoch"));
  CHECK_THAT(read(dict({{"a", good}, {"a", good}})), Contains("'a' twice"));
  CHECK_THAT(read("}(N" + good + "u"), Contains("name is no text"));
  const std::string rebuild = pickles::global("torch._utils", "_rebuild_tensor_v2");
  CHECK_THAT(read(dict({{"w", rebuild + ")R"}})), Contains("'w' has no storage"));
  CHECK_THAT(read(dict({{"w", rebuild + "(NNNNtR"}})), Contains("'w' has no storage"));
  CHECK_THAT(read(dict({{"w", rebuild + "(NQK\x01))tR"}})), Contains("no storage"));
  const std::string storage = "(" + pickles::text("storage") + pickles::global("torch", "FloatStorage") +
                              pickles::text("0") + pickles::text("cpu") + "K\x06";
  CHECK(read(dict({{"w", rebuild + "(" + storage + "tQK" + std::string(1, '\0') + "))tR"}})) == "accepted");
  CHECK_THAT(read(dict({{"w", rebuild + "(" + storage + "tQN))tR"}})), Contains("that is none"));
  CHECK_THAT(read(dict({{"w", rebuild + "(" + storage + "tQK" + std::string(1, '\0') + "N)tR"}})),
             Contains("no tuple"));
  CHECK_THAT(read(dict({{"w", rebuild + "(" + storage + "(NtttQK" + std::string(1, '\0') + "))tR"}})),
             Contains("[read_pth]"));
  CHECK_THAT(read(dict({{"w", pickles::global("torch._utils", "_rebuild_parameter") + ")R"}})), Contains("no tensors"));
}

TEST_CASE("pth: zip archives that are none of PyTorch's", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bad.pth");
  const std::string object = whole(dict({{"w", pickles::tensor({})}}));
  pickles::write_zip(path, object, {{"0", kElements}}, "big");
  CHECK_THAT(outcome(path), Contains("big-endian"));
  pickles::write_zip(path, object, {{"0", kElements}, {"0", kElements}});
  CHECK_THAT(outcome(path), Contains("'x/data/0' twice"));
  pickles::write_zip(path, object, {{"0", kElements.substr(4)}});
  CHECK_THAT(outcome(path), Contains("20 bytes instead of 24"));
  pickles::write_zip(path, object, {});
  CHECK_THAT(outcome(path), Contains("no storage '0'"));
  {
    ZipWriter zip(path);
    zip.add("x/other", "1", 1);
    zip.commit();
  }
  CHECK_THAT(outcome(path), Contains("without data.pkl"));
  {
    ZipWriter zip(path);
    zip.add("x/data.pkl", object.data(), object.size());
    zip.add("y/data.pkl", object.data(), object.size());
    zip.commit();
  }
  CHECK_THAT(outcome(path), Contains("more than one data.pkl"));
}

TEST_CASE("pth: a zip archive with wrong sizes, methods or elements", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bad.pth");
  pickles::write_zip(path, whole(dict({{"w", pickles::tensor({})}})), {{"0", kElements}});
  const std::string good = content(path);
  const size_t entry = good.rfind("x/data/0") - 46;  // in the directory
  const auto with = [&](size_t at, const std::string& bytes) {
    std::string bad = good;
    bad.replace(at, bytes.size(), bytes);
    folder.write("bad.pth", bad);
    return outcome(path);
  };
  const std::string huge = pickles::number(0xfffffff0, 4);
  CHECK_THAT(with(entry + 20, huge + huge), Contains("[read_pth]"));
  CHECK_THAT(with(entry + 20, huge), Contains("[read_pth]"));
  CHECK_THAT(with(entry + 24, huge), Contains("[read_pth]"));
  CHECK_THAT(with(entry + 42, huge), Contains("[read_pth]"));
  CHECK_THAT(with(entry + 10, "\x08"), Contains("compressed or encrypted"));
  CHECK_THAT(with(good.find(kElements), "\2"), Contains("'x/data/0' is damaged"));
  CHECK_THAT(with(good.size() - 12, "\xff\xff\xff\x7f"), Contains("[read_pth]"));  // the directory's size
}

TEST_CASE("pth: every truncation is refused", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("cut.pth");
  for (const char* name : {"net_protocol2", "net_protocol4", "net_legacy2", "net_legacy4", "views_legacy"}) {
    const std::string file = content(source_path("tests/data/" + std::string(name) + ".pth"));
    folder.write("cut.pth", file);
    for (size_t length = file.size(); length-- > 0;) {
      INFO(name << " " << length);
      std::filesystem::resize_file(path, length);
      REQUIRE(outcome(path) != "accepted");
    }
  }
}

TEST_CASE("pth: any changed byte is refused or read without harm", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("changed.pth");
  pickles::write_zip(path, whole(dict({{"w", pickles::tensor({})}})), {{"0", kElements}});
  const std::string zip = content(path);
  const std::string legacy = pickles::legacy(dict({{"w", pickles::tensor({})}}), {{"0", kElements}}, 6);
  for (const std::string& good : {zip, legacy}) {
    folder.write("changed.pth", good);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](size_t at, char value) { file.seekp(static_cast<std::streamoff>(at)).put(value).flush(); };
    for (size_t at = 0; at < good.size(); ++at) {
      for (const char value : {'\0', '\1', '\x7f', '\xff', '(', 't', 'R', '.'}) {
        put(at, value);
        try {
          for (const NamedTensor& t : read_pth(path)) REQUIRE(t.tensor.numel() <= 6);
        } catch (const Error& error) {
          REQUIRE_THAT(error.what(), Contains(path));
        }
      }
      put(at, good[at]);
    }
  }
}

TEST_CASE("pth: the older form with other numbers", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bad.pth");
  const std::string object = dict({{"w", pickles::tensor({})}});
  const auto read = [&](const std::string& bytes) {
    folder.write("bad.pth", bytes);
    return outcome(path);
  };
  CHECK_THAT(read(pickles::legacy(object, {{"0", kElements}}, 7)), Contains("7 elements instead of 6"));
  CHECK_THAT(read(pickles::legacy(object, {{"0", kElements}}, -1)), Contains("-1 elements instead of 6"));
  CHECK_THAT(read(pickles::legacy(object, {{"0", kElements}, {"0", kElements}}, 6)), Contains("'0' twice"));
  CHECK_THAT(read(pickles::legacy(object, {{"1", kElements}}, 6)), Contains("no tensor refers to"));
  CHECK_THAT(read(pickles::legacy(object, {}, 6)), Contains("no storage '0'"));
  CHECK_THAT(read(pickles::legacy(dict({{"a", pickles::tensor({})}, {"b", pickles::tensor({.storage = "IntStorage"})}}),
                                  {{"0", kElements}}, 6)),
             Contains("two types or sizes"));
  CHECK_THAT(read(whole("K\x01")), Contains("not of PyTorch's torch.save"));
  CHECK_THAT(read(""), Contains("too short"));
  CHECK_THAT(read("no weights"), Contains("no pickle"));
  CHECK_THAT(outcome(folder.path("missing")), Contains("No such file"));
  CHECK_THAT(outcome(folder.path()), Contains(folder.path()));
}

}  // namespace
}  // namespace dnn
