#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <kernels/error.h>
#include <libdnn/formats/pickle.h>

#include "pickles.h"

namespace dnn::pickle {
namespace {

using Catch::Matchers::Contains;
using namespace std::string_literals;
using pickles::integer;
using pickles::number;
using pickles::text;
using pickles::whole;

const std::vector<std::string_view> kAllowed{"collections.OrderedDict", "torch._utils._rebuild_tensor_v2"};

// The message of the fault; empty where there is none.
std::string fault(const std::string& bytes) {
  try {
    const Pickle pickle(bytes, kAllowed, "[test] FILE");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("pickle: numbers and texts, by hand", "[pickle]") {
  const std::string bytes = whole(
      "(NK\xffM\xe8\x03J\xfe\xff\xff\xff\x8a\x02\x00\x80\x8a\x00\x8b\x01\x00\x00\x00\x05"s
      "G\x3f\xf8\x00\x00\x00\x00\x00\x00\x88\x89"
      "X\x01\x00\x00\x00"
      "aU\x01"
      "b\x8c\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01"
      "C\x02"
      "\x00.t"s);
  const Pickle pickle(bytes, kAllowed, "");
  CHECK(pickle.size() == static_cast<int64_t>(bytes.size()));
  REQUIRE(pickle.root().as<Tuple>());
  const Values& v = *pickle.root().as<Tuple>()->items;
  REQUIRE(v.size() == 15);
  CHECK(v[0].as<None>());
  CHECK(*v[1].as<int64_t>() == 255);
  CHECK(*v[2].as<int64_t>() == 1000);
  CHECK(*v[3].as<int64_t>() == -2);
  CHECK(*v[4].as<int64_t>() == -32768);
  CHECK(*v[5].as<int64_t>() == 0);
  CHECK(*v[6].as<int64_t>() == 5);
  CHECK(*v[7].as<double>() == 1.5);
  CHECK(*v[8].as<bool>());
  CHECK_FALSE(*v[9].as<bool>());
  CHECK(v[10].as<Text>()->text == "a");
  CHECK(v[11].as<Text>()->text == "b");
  CHECK(v[12].as<Text>()->text.empty());
  CHECK(v[13].as<BigInteger>()->bytes.size() == 9);
  CHECK(v[14].as<Bytes>()->bytes == "\0."s);
}

TEST_CASE("pickle: lists, dicts, the memo and protocol 4", "[pickle]") {
  // {"a": [1, 2, 3]}, the list twice
  const std::string body =
      "}(X\x01\x00\x00\x00"s + "a]q\x00(K\x01K\x02"s + "eK\x03"s + "aX\x01\x00\x00\x00"s + "bh\x00u"s;
  const std::string bytes = whole(body);
  const Pickle pickle(bytes, kAllowed, "");
  const Values& items = *pickle.root().as<Dict>()->items;
  REQUIRE(items.size() == 4);
  CHECK(items[1].as<List>()->items == items[3].as<List>()->items);
  CHECK(items[1].as<List>()->items->size() == 3);

  const std::string four = "\x80\x04\x95" + number(7, 8) + "\x8c\x01x\x94h\x00\x86."s;
  const Pickle framed(four, kAllowed, "");
  const Values& pair = *framed.root().as<Tuple>()->items;
  REQUIRE(pair.size() == 2);
  CHECK(pair[1].as<Text>()->text == "x");
}

TEST_CASE("pickle: a list that holds itself, and one that is nested a million times", "[pickle]") {
  const std::string self = whole("]q\x00h\x00"s + "a");
  const Pickle pickle(self, kAllowed, "");
  const Values* items = pickle.root().as<List>()->items;
  CHECK(items->at(0).as<List>()->items == items);

  const size_t depth = 1'000'000;
  const std::string deep = whole(std::string(depth, ']') + std::string(depth - 1, 'a'));
  CHECK(fault(deep).empty());
  CHECK_THAT(fault(whole(std::string(2 * depth, ']') + std::string(2 * depth - 1, 'a'))), Contains("million"));
  CHECK_THAT(fault(whole(std::string(2 * depth, '('))), Contains("nested too deep"));
}

TEST_CASE("pickle: OrderedDict, also as Python 2 writes it, with its attributes", "[pickle]") {
  const std::string name = pickles::global("collections", "OrderedDict");
  const std::string empty = whole(name + ")R}b");
  const Pickle none(empty, kAllowed, "");
  CHECK(none.root().as<Dict>()->items->empty());

  const std::string old = whole(name + "]]U\x01"s + "aaK\x07" + "aa\x85R"s);
  const Pickle one(old, kAllowed, "");
  const Values& items = *one.root().as<Dict>()->items;
  REQUIRE(items.size() == 2);
  CHECK(items[0].as<Text>()->text == "a");
  CHECK(*items[1].as<int64_t>() == 7);

  CHECK_THAT(fault(whole(name + "K\x01\x85R"s)), Contains("no list"));
  CHECK_THAT(fault(whole(name + "]K\x01"s + "a\x85R")), Contains("no pairs"));
  // One long list made into many dicts would take memory beyond the file's size.
  std::string many = "](" + std::string(100, ']') + "e";
  for (int i = 0; i < 100; ++i) many += ")";
  std::string pairs = "]q\x01("s;
  for (int i = 0; i < 1000; ++i) pairs += "NN\x86";
  pairs += "e0" + name + "q\x02"s + "0";
  for (int i = 0; i < 1000; ++i) pairs += "h\x02h\x01\x85R0"s;
  CHECK_THAT(fault(whole(pairs + "N")), Contains("again and again"));
}

TEST_CASE("pickle: a call is recorded, and only of what is allowed", "[pickle]") {
  const std::string good = whole(pickles::global("torch._utils", "_rebuild_tensor_v2") + "N\x85R");
  const Pickle pickle(good, kAllowed, "");
  const Call* call = pickle.root().as<Call>();
  REQUIRE(call);
  CHECK(call->parts->at(0).as<Global>()->name == "torch._utils._rebuild_tensor_v2");
  CHECK(call->parts->at(1).as<Tuple>()->items->size() == 1);

  CHECK_THAT(fault(whole("K\x01)R"s)), Contains("calls what is no function"));
  CHECK_THAT(fault(whole("K\x01)}\x92"s)), Contains("calls what is no function"));
  CHECK_THAT(fault(whole("(K\x01o"s)), Contains("calls what is no function"));
  CHECK_THAT(fault(whole("(o")), Contains("no class"));
  CHECK_THAT(fault(whole(pickles::global("collections", "OrderedDict") + "NR")), Contains("no tuple"));
  CHECK_THAT(fault(whole("N}b")), Contains("state of what is no object"));
  CHECK_THAT(fault(whole(good.substr(2, good.size() - 3) + "}b")), Contains("state of what is no object"));
  CHECK_THAT(fault(whole("](N\x90")), Contains("no set"));
  CHECK_THAT(fault(whole("I1\n")), Contains("protocol 0"));
  CHECK_THAT(fault(whole("\xff")), Contains("unknown operation 0xff"));
}

// The class or function that an opaque value comes from, "?" where it has none; "no opaque" for other values.
std::string opaque(const std::string& object) {
  const std::string bytes = whole(object);
  const Pickle pickle(bytes, kAllowed, "");
  const Opaque* value = pickle.root().as<Opaque>();
  if (!value) return "no opaque";
  return value->of ? fmt::format("{} {}", value->of->module, value->of->name) : "?";
}

TEST_CASE("pickle: objects of other classes are opaque, however they are made", "[pickle]") {
  const std::string name = pickles::global("os", "system");
  CHECK(opaque(name) == "os system");
  CHECK(opaque(text("posix") + text("system") + "\x93") == "posix system");
  CHECK(opaque("ccollections\nOrderedDict.popitem\n") == "collections OrderedDict.popitem");
  CHECK(opaque("ccollection\ns.OrderedDict\n") == "collection s.OrderedDict");  // not what is allowed
  CHECK(opaque("ccollectionsOrderedDict\n\n") == "collectionsOrderedDict ");
  CHECK(opaque("c\n\n") == " ");
  CHECK(opaque(name + text("true") + "\x85R") == "os system");
  CHECK(opaque(name + ")\x81") == "os system");
  CHECK(opaque(name + ")}\x92") == "os system");
  CHECK(opaque("(K\x01ios\nsystem\n"s) == "os system");
  CHECK(opaque("(" + name + "No") == "os system");
  CHECK(opaque(name + ")R)R") == "os system");  // the result is called
  CHECK(opaque(pickles::global("collections", "OrderedDict") + name + "\x85R") == "os system");
  CHECK(opaque(pickles::global("collections", "OrderedDict") + ")}\x92") == "?");
  CHECK(opaque("\x82\x01"s) == "?");
  CHECK(opaque("\x83\x01\x02"s) == "?");
  CHECK(opaque("\x84\x01\x02\x03\x04"s) == "?");
  CHECK(opaque("\x8f") == "?");
  CHECK(opaque("(NN\x91") == "?");
  CHECK(opaque("\x97\x98") == "?");
  // A class of PyTorch's modules, as it was written before 1.6, and an object of it.
  const std::string module = "(" + text("module") + pickles::global("net", "Net") + text("net.py") + text("") + "tQ";
  CHECK(opaque(module + ")\x81") == "net Net");
  CHECK(opaque(text("0") + "Q)\x81") == "?");
}

TEST_CASE("pickle: what is put into an opaque value is dropped", "[pickle]") {
  const std::string object = pickles::global("config", "Config") + ")\x81";
  CHECK(opaque(object + "}" + text("lr") + "NsbNa(NNeNNs(NNu(NN\x90") == "config Config");
  const std::string self = whole(object + "q\x00}X\x01\x00\x00\x00xh\x00sb"s);  // an object that holds itself
  CHECK(Pickle(self, kAllowed, "").root().as<Opaque>());
  CHECK_THAT(fault(whole(object + "(Nu")), Contains("without a value"));
  // Beside what counts: {"a": config, "b": 3}
  const std::string bytes = whole(pickles::dict({{"a", object + "N}\x86" + "b"}, {"b", "K\x03"}}));
  const Pickle both(bytes, kAllowed, "");
  const Values& items = *both.root().as<Dict>()->items;
  REQUIRE(items.size() == 4);
  CHECK(items[1].as<Opaque>());
  CHECK(*items[3].as<int64_t>() == 3);
}

TEST_CASE("pickle: one long name, taken again and again, costs nothing", "[pickle]") {
  std::string bytes = text(std::string(1 << 22, 'm')) + "q\x01"s + "0" + text("n") + "q\x02"s + "0N";
  for (int i = 0; i < 1 << 20; ++i) bytes += "h\x01h\x02\x93\x30";
  CHECK(fault(whole(bytes)).empty());
}

TEST_CASE("pickle: what doesn't fit the machine is refused", "[pickle]") {
  CHECK_THAT(fault(""), Contains("no pickle"));
  CHECK_THAT(fault("(lp0\n."), Contains("no pickle"));
  CHECK_THAT(fault("\x80\x06N."s), Contains("protocol 6"));
  CHECK_THAT(fault("\x80\x01N."s), Contains("protocol 1"));
  CHECK_THAT(fault(whole("")), Contains("empty stack"));
  CHECK_THAT(fault(whole("NN")), Contains("left over"));
  CHECK_THAT(fault(whole("N(")), Contains("empty stack"));
  CHECK_THAT(fault(whole("N(\x85")), Contains("empty stack"));  // not from below the mark
  CHECK_THAT(fault(whole("](a")), Contains("empty stack"));
  CHECK_THAT(fault(whole("t")), Contains("no mark"));
  CHECK_THAT(fault(whole("NNa")), Contains("no list"));
  CHECK_THAT(fault(whole("NNNs")), Contains("no dict"));
  CHECK_THAT(fault(whole("}(Nu")), Contains("without a value"));
  CHECK_THAT(fault(whole("h\x07"s)), Contains("entry 7"));
  CHECK_THAT(fault(whole("Nq\x02h\x01"s)), Contains("entry 1"));
  CHECK_THAT(fault(whole("q\x00"s)), Contains("empty stack"));
  CHECK_THAT(fault(whole("Nr\xff\xff\xff\x7f")), Contains("2147483647"));
}

TEST_CASE("pickle: lengths beyond the end allocate nothing", "[pickle]") {
  const std::string huge = number(uint64_t{1} << 62, 8), all = number(~uint64_t{0}, 8);
  for (const char* opcode : {"\x8d", "\x8e", "\x96", "\x95"}) {
    CHECK_THAT(fault(whole(opcode + huge)), Contains("ends too early"));
    CHECK_THAT(fault(whole(opcode + all)), Contains("ends too early"));
  }
  for (const char* opcode : {"X", "T", "B", "\x8b"}) {
    CHECK_THAT(fault(whole(opcode + number(0xffffffff, 4))), Contains("ends too early"));
  }
  CHECK_THAT(fault(whole("\x8a\xff")), Contains("255 bytes are announced"));
  CHECK_THAT(fault("\x80\x02" + "cos"s), Contains("middle of a name"));
}

TEST_CASE("pickle: every truncation is refused", "[pickle]") {
  const std::string bytes = whole(pickles::dict({{"w", pickles::tensor({})}, {"n", integer(3)}}));
  const std::vector<std::string_view> allowed{"collections.OrderedDict", "torch._utils._rebuild_tensor_v2",
                                              "torch.FloatStorage"};
  CHECK(Pickle(bytes, allowed, "").persistent_ids().size() == 1);
  for (size_t length = 0; length < bytes.size(); ++length) {
    CHECK_THROWS_AS(Pickle(bytes.substr(0, length), allowed, ""), Error);
  }
}

}  // namespace
}  // namespace dnn::pickle
