#include <catch2/catch.hpp>

#include <iterator>

#include <libdnn/formats/pth.h>

#include "../files.h"
#include "pickles.h"
#include "zips.h"

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
    CHECK_THAT(read({.storage = "ComplexFloatStorage"}),
               Contains(form ? "24 bytes instead of 48" : "ends before storage"));
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
  CHECK_THAT(read("cos\nsystem\n" + pickles::text("true") + "\x85R"),
             Contains("[read_pth] " + path + ": holds os.system, not a dict of tensors"));
  CHECK_THAT(read(good), Contains("not a dict"));
  CHECK_THAT(read("]"), Contains("holds a list, not a dict"));
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
  CHECK_THAT(with(entry + 10, "\x08"), Contains("'x/data/0' is damaged"));  // deflated: it is not
  CHECK_THAT(with(entry + 10, "\x0c"), Contains("compressed by another method than deflate"));
  CHECK_THAT(with(entry + 8, "\1"), Contains("'x/data/0' is encrypted"));
  CHECK_THAT(with(good.find(kElements), "\2"), Contains("'x/data/0' is damaged"));
  CHECK_THAT(with(good.size() - 12, "\xff\xff\xff\x7f"), Contains("[read_pth]"));  // the directory's size
}

TEST_CASE("pth: a deflated archive takes no more memory than its bytes account for", "[pth]") {
  using zips::archive;
  using zips::deflated_entry;
  const TemporaryFolder folder;
  const auto read = [&](const std::string& bytes) { return outcome(folder.write("deflated.pth", bytes)); };
  const auto pickle = [](int64_t numel, int64_t size, int64_t offset = 0) {
    const View view{.numel = numel, .offset = offset, .sizes = {size}, .strides = {1}};
    return deflated_entry("x/data.pkl", whole(dict({{"w", pickles::tensor(view)}})));
  };
  const zips::Entry object = pickle(6, 6);
  const zips::Entry good = deflated_entry("x/data/0", kElements);
  CHECK(read(archive({object, good})) == "accepted");

  // A million zeros, which are deflated to a thousandth, and a part of them.
  const zips::Entry zeros = deflated_entry("x/data/0", std::string(4 << 20, '\0'));
  CHECK(read(archive({pickle(1 << 20, 1 << 20), zeros})) == "accepted");
  CHECK(read(archive({pickle(1 << 20, 3, 1000), zeros})) == "accepted");
  CHECK(read_pth(folder.path("deflated.pth"))[0].tensor.to_vector<float>() == std::vector<float>(3));

  // More than deflate can give, and more or less than there is.
  zips::Entry bomb = good;
  bomb.size = static_cast<uint32_t>(1033 * bomb.bytes.size());
  CHECK_THAT(read(archive({object, bomb})), Contains("'x/data/0' cannot have"));
  bomb = object;
  bomb.size = 0xfffffff0;
  CHECK_THAT(read(archive({bomb, good})), Contains("'x/data.pkl' cannot have 4294967280 bytes"));
  bomb = deflated_entry("x/data/0", kElements + kElements);
  bomb.size = 24;
  CHECK_THAT(read(archive({object, bomb})), Contains("'x/data/0' is damaged"));
  bomb = deflated_entry("x/data/0", kElements.substr(4));
  bomb.size = 24;
  CHECK_THAT(read(archive({object, bomb})), Contains("'x/data/0' is damaged"));
  bomb = good;
  bomb.checksum ^= 1;
  CHECK_THAT(read(archive({object, bomb})), Contains("'x/data/0' is damaged"));
  bomb = zeros;
  bomb.checksum ^= 1;
  CHECK_THAT(read(archive({pickle(1 << 20, 3), bomb})), Contains("'x/data/0' is damaged"));
  bomb = good;
  bomb.bytes.back() = '\xff';
  bomb.bytes.front() = '\xff';
  CHECK_THAT(read(archive({object, bomb})), Contains("'x/data/0' is damaged"));

  // Many entries over the same bytes.
  std::vector<zips::Entry> many{object};
  for (int i = 0; i < 100; ++i) {
    many.push_back(zeros);
    many.back().name = "x/data/" + std::to_string(i);
  }
  CHECK_THAT(read(archive(many, true)), Contains("entries of more bytes than the file"));

  // Many names for one storage of zeros.
  const std::string storage = pickles::tensor({.numel = 1 << 20, .sizes = {1 << 20}, .strides = {1}});
  std::string items = "}(" + pickles::text("t0") + storage + std::string("q\0", 2);
  for (int i = 1; i < 100; ++i) items += pickles::text("t" + std::to_string(i)) + std::string("h\0", 2);
  CHECK_THAT(read(archive({deflated_entry("x/data.pkl", whole(items + "u")), zeros})),
             Contains("more bytes than a file of its size"));
}

TEST_CASE("pth: parts of a deflated storage are read in any order, each part once inflated", "[pth]") {
  const TemporaryFolder folder;
  std::string elements(4 * 30'000, '\0'), items = "}(";
  for (size_t i = 0; i < 30'000; ++i) elements[4 * i + 1] = static_cast<char>(i % 100);  // 256 times that
  for (int i = 0; i < 10'000; ++i) {
    items += pickles::text("t" + std::to_string(i)) + pickles::tensor({.storage = "IntStorage",
                                                                       .key = std::to_string(i % 2),
                                                                       .numel = 30'000,
                                                                       .offset = 3 * (9'999 - i),
                                                                       .sizes = {3},
                                                                       .strides = {1}});
  }
  const std::string path = folder.write(
      "parts.pth",
      zips::archive({zips::deflated_entry("x/data.pkl", whole(items + "u")), zips::deflated_entry("x/data/0", elements),
                     zips::deflated_entry("x/data/1", elements)}));
  const NamedTensors tensors = read_pth(path);
  REQUIRE(tensors.size() == 10'000);
  CHECK(tensors[9'999].tensor.to_vector<int32_t>() == std::vector<int32_t>{0, 256, 512});
  CHECK(tensors[0].tensor.to_vector<int32_t>() == std::vector<int32_t>{97 * 256, 98 * 256, 99 * 256});
}

TEST_CASE("pth: a TorchScript archive is called one", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("script.pt"), object = whole(pickles::global("__torch__", "Net") + ")\x81}b");
  const auto write = [&](const std::string& extra, bool constants) {
    ZipWriter zip(path);
    zip.add("net/data.pkl", object.data(), object.size());
    zip.add("net/" + extra, "", 0);
    if (constants) zip.add("net/constants.pkl", "", 0);
    zip.commit();
    return outcome(path);
  };
  CHECK_THAT(write("code/__torch__.py", true),
             Contains("TorchScript") && Contains("torch.jit.load(path).state_dict()"));
  CHECK_THAT(write("data/0", true), Contains("holds __torch__.Net"));
  CHECK_THAT(write("code/__torch__.py", false), Contains("holds __torch__.Net"));
  // As PyTorch writes it: the code is deflated.
  folder.write("script.pt", zips::archive({zips::deflated_entry("net/data.pkl", object),
                                           zips::deflated_entry("net/code/__torch__.py", "class Net(Module):\n"),
                                           zips::deflated_entry("net/constants.pkl", whole(")"))}));
  CHECK_THAT(outcome(path), Contains("TorchScript"));
}

TEST_CASE("pth: every truncation is refused", "[pth]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("cut.pth");
  for (const char* name :
       {"net_protocol2", "net_protocol4", "net_legacy2", "net_legacy4", "views_legacy", "deflated"}) {
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
  CHECK_THAT(read(""), Contains(path + " is empty"));
  CHECK_THAT(read("no weights"), Contains("no pickle"));
  CHECK_THAT(outcome(folder.path("missing")), Contains("No such file"));
  CHECK_THAT(outcome(folder.path()), Contains(folder.path()));
}

}  // namespace
}  // namespace dnn
