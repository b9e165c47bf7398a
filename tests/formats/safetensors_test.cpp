#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <libdnn/formats/safetensors.h>

#include "../files.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string file_with(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i));
  return bytes + header + data;
}

TEST_CASE("safetensors: what is written is read, in its order", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("all.safetensors");
  const NamedTensors tensors{{"z.pictures", from_vector<uint8_t>({1, 2, 255}, {3})},
                             {"a.weight", tensor({1, -2.5f, 3, 4, 5, 6}, {2, 1, 3})},
                             {"double", from_vector<double>({1e-300}, {1}, "reference")},
                             {"labels", from_vector<int32_t>({-100, 7}, {2, 1})},
                             {"scalar \"\xC3\xA9\"", tensor({42}, {})},
                             {"empty", tensor({}, {0, 4})}};
  const Metadata metadata{{"format", "pt"}, {"step", "12"}};
  write_safetensors(path, tensors, metadata);

  SafetensorsFile file(path);
  CHECK(file.metadata() == metadata);
  const NamedTensors read = file.read_all();
  REQUIRE(read.size() == tensors.size());
  for (size_t i = 0; i < read.size(); ++i) {
    INFO(tensors[i].name);
    CHECK(read[i].name == tensors[i].name);
    CHECK(read[i].tensor.shape() == tensors[i].tensor.shape());
    CHECK(read[i].tensor.dtype() == tensors[i].tensor.dtype());
  }
  CHECK(read[0].tensor.to_vector<uint8_t>() == std::vector<uint8_t>{1, 2, 255});
  CHECK(read[1].tensor.to_vector<float>() == std::vector<float>{1, -2.5f, 3, 4, 5, 6});
  CHECK(read[2].tensor.to_vector<double>() == std::vector<double>{1e-300});
  CHECK(read[3].tensor.to_vector<int32_t>() == std::vector<int32_t>{-100, 7});
  CHECK(read[4].tensor.item() == 42);
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    INFO(entry.name);
    CHECK(entry.offset % (entry.type == "F64" ? 8 : entry.type == "U8" ? 1 : 4) == 0);
  }
  CHECK(file.find("labels")->shape == std::vector<int64_t>{2, 1});
  CHECK(file.find("nothing") == nullptr);
}

TEST_CASE("safetensors: the bytes of a file, by hand", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("one.safetensors");
  write_safetensors(path, {{"w", tensor({1}, {1})}});
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  CHECK(bytes_of(path) == file_with(header + "  ", std::string("\0\0\x80\x3f", 4)));
}

TEST_CASE("safetensors: half precision, 64-bit integers and truth values stay what they are", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("types.safetensors");
  const std::string header = R"({"f16":{"dtype":"F16","shape":[3],"data_offsets":[0,6]},)"
                             R"("bf16":{"dtype":"BF16","shape":[2],"data_offsets":[6,10]},)"
                             R"("i64":{"dtype":"I64","shape":[2],"data_offsets":[10,26]},)"
                             R"("bool":{"dtype":"BOOL","shape":[3],"data_offsets":[26,29]}})";
  const std::string data(
      "\x00\x3c\x00\xc1\x01\x00\x80\x3f\x20\xc0"
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00\x00\x00\x01\x02",
      29);
  write_bytes(path, file_with(header, data));
  const NamedTensors read = SafetensorsFile(path).read_all();
  CHECK(read[0].tensor.to_vector<Float16>() == std::vector<Float16>{1.0f, -2.5f, 0x1p-24f});
  CHECK(read[1].tensor.to_vector<BFloat16>() == std::vector<BFloat16>{1.0f, -2.5f});
  CHECK(read[2].tensor.to_vector<int64_t>() == std::vector<int64_t>{-1, INT32_MAX});
  CHECK(read[3].tensor.to_vector<bool>() == std::vector<bool>{false, true, true});
  const std::string again = folder.path("again.safetensors");
  write_safetensors(again, read);
  const NamedTensors back = SafetensorsFile(again).read_all();
  for (size_t i = 0; i < read.size(); ++i) {
    CHECK(back[i].tensor.dtype() == read[i].tensor.dtype());
    CHECK(back[i].tensor.to(DType::float64).to_vector<double>() ==
          read[i].tensor.to(DType::float64).to_vector<double>());
  }

  write_safetensors(path, {{"w", tensor({1}, {1})}, {"n", from_vector<int32_t>({-7}, {})}}, {}, {"n"});
  SafetensorsFile file(path);
  CHECK(file.find("n")->type == "I64");
  CHECK(file.find("w")->offset == file.find("n")->offset + 8);
  CHECK(file.read(*file.find("n")).to_vector<int64_t>() == std::vector<int64_t>{-7});
}

TEST_CASE("safetensors: a file without tensors", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("none.safetensors");
  write_safetensors(path, {});
  CHECK(SafetensorsFile(path).entries().empty());
}

TEST_CASE("safetensors: every truncation is refused, and every longer file", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("cut.safetensors");
  write_safetensors(path, {{"w", tensor({1, 2, 3}, {3})}, {"b", tensor({4}, {1})}});
  const std::string whole = bytes_of(path);
  for (size_t length = 0; length < whole.size(); ++length) {
    INFO(length);
    write_bytes(path, whole.substr(0, length));
    CHECK_THROWS_WITH(SafetensorsFile(path), Contains(path));
  }
  write_bytes(path, whole + "x");
  CHECK_THROWS_WITH(SafetensorsFile(path), Contains("1 byte belongs to no tensor"));
}

TEST_CASE("safetensors: any changed byte of the header is refused or read without harm", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("changed.safetensors");
  write_safetensors(path, {{"w", tensor({1, 2, 3}, {3})}, {"b", from_vector<uint8_t>({4}, {1})}}, {{"k", "v"}});
  const std::string whole = bytes_of(path);
  const size_t header_end = whole.size() - 13;
  for (size_t at = 0; at < header_end; ++at) {
    for (const char value : {'\0', '9', '"', '{', ']', ',', '-', '.', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = value;
      write_bytes(path, changed);
      try {
        for (const NamedTensor& t : SafetensorsFile(path).read_all()) REQUIRE(t.tensor.numel() <= 13);
      } catch (const Error& error) {
        REQUIRE(std::string(error.what()).find(path) != std::string::npos);
      }
    }
  }
}

TEST_CASE("safetensors: headers that lie", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bad.safetensors");
  const auto message = [&](const std::string& header, size_t data_bytes) -> std::string {
    write_bytes(path, file_with(header, std::string(data_bytes, 'x')));
    try {
      SafetensorsFile(path).read_all();
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto tensor = [](const std::string& name, const std::string& type, const std::string& shape,
                         const std::string& offsets) {
    return "\"" + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const auto one = [&](const std::string& type, const std::string& shape, const std::string& offsets, size_t bytes) {
    return message("{" + tensor("w", type, shape, offsets) + "}", bytes);
  };
  CHECK(one("F32", "[2]", "[0,8]", 8) == "accepted");
  CHECK_THAT(one("F32", "[2]", "[0,4]", 4), Contains("'w' needs 8 bytes"));
  CHECK_THAT(one("F32", "[2]", "[0,8]", 4), Contains("beyond the file's 4 bytes"));
  CHECK_THAT(one("F32", "[2]", "[8,0]", 8), Contains("offsets 8 to 0"));
  CHECK_THAT(one("F32", "[2]", "[-8,0]", 8), Contains("got -8"));
  CHECK_THAT(one("F32", "[2]", "[0,8,8]", 8), Contains("data_offsets"));
  CHECK_THAT(one("F32", "[2.0]", "[0,8]", 8), Contains("got 2.0"));
  CHECK_THAT(one("F32", "[-2]", "[0,8]", 8), Contains("got -2"));
  CHECK_THAT(one("F32", "2", "[0,8]", 8), Contains("shape that is no list"));
  CHECK_THAT(one("F32", "[[2]]", "[0,8]", 8), Contains(path));
  CHECK_THAT(one("F32", "[4611686018427387904,4]", "[0,0]", 0), Contains("more bytes than can be counted"));
  CHECK_THAT(one("F32", "[18446744073709551615]", "[0,0]", 0), Contains("got 18446744073709551615"));
  CHECK_THAT(one("F32", "[99999999999999999999999]", "[0,0]", 0), Contains("a number that is none"));
  CHECK_THAT(one("U8", "[0,4294967296]", "[0,0]", 0), Contains("'w' has a shape that no tensor can have"));
  CHECK_THAT(one("U8", "[1,1,1,1,1,1,1]", "[0,1]", 1), Contains("'w' has a shape that no tensor can have"));
  CHECK_THAT(one("F31", "[2]", "[0,8]", 8), Contains("unknown type; got \"F31\""));
  CHECK_THAT(one("I16", "[2]", "[0,4]", 4), Contains("'w' is not of type") && Contains("I16"));
  CHECK_THAT(one("", "[2]", "[0,8]", 8), Contains("unknown type"));
  CHECK_THAT(one("torch.FloatStorage", "[2]", "[0,8]", 8), Contains("unknown type"));
  CHECK_THAT(message("{" + tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("b", "U8", "[4]", "[3,7]") + "}", 7),
             Contains("'b' overlaps"));
  CHECK_THAT(message("{" + tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("b", "U8", "[4]", "[5,9]") + "}", 9),
             Contains("'b' leaves a gap"));
  CHECK_THAT(message("{" + tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("a", "U8", "[4]", "[4,8]") + "}", 8),
             Contains("'a' twice"));
  CHECK_THAT(message(R"({"w":{"dtype":"U8","shape":[1]}})", 1), Contains("data_offsets"));
  CHECK_THAT(message(R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":1}})", 1), Contains("alone"));
  CHECK_THAT(message(R"({"w":3})", 0), Contains("'w'"));
  CHECK_THAT(message(R"({"__metadata__":{"a":1}})", 0), Contains("'a' is no text"));
  CHECK_THAT(message(R"({"__metadata__":[]})", 0), Contains("metadata"));
  CHECK_THAT(message("[]", 0), Contains("'{'"));
  CHECK_THAT(message("", 0), Contains("'{'"));
  CHECK_THAT(message("{", 0), Contains("bad.safetensors: the header is no JSON, from its byte 2 on"));
  CHECK_THAT(message("{\"\xff\":1}", 0), Contains("no JSON, from its byte 3 on"));
  CHECK_THAT(message(R"({"w":1e999})", 0), Contains("a number that is too large"));
  CHECK_THAT(one("\\u0000" + std::string(1000, 'F'), "[2]", "[0,8]", 8), Contains("unknown type") && Contains("FF..."));
  for (const char* header : {"{", "{]", "{\"\xff\":1}", R"({"w":1e999})", R"({"w":tru})", R"({"w":"\x"})"}) {
    const std::string text = message(header, 0);
    CHECK(text.find("exception") == std::string::npos);
    CHECK(text.find("parse") == std::string::npos);
  }
  CHECK_THAT(message("{" + std::string(100000, '['), 0), Contains(path));
  CHECK_THAT(message("{\"a\":" + std::string(100000, '['), 0), Contains("too deep"));
}

TEST_CASE("safetensors: a header length beyond the file allocates nothing", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("foreign.bin");
  write_bytes(path, std::string(64, '\xff'));
  CHECK_THROWS_WITH(SafetensorsFile(path), Contains(path) && Contains("no safetensors file"));
  write_bytes(path, "");
  CHECK_THROWS_WITH(SafetensorsFile(path), Contains(path + " is empty"));
  CHECK_THROWS_WITH(SafetensorsFile(folder.path("missing")), Contains("missing: No such file"));
  CHECK_THROWS_WITH(SafetensorsFile(folder.path()), Contains(folder.path()));
}

TEST_CASE("safetensors: a file that cannot be written leaves the old one and nothing else", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("kept.safetensors");
  write_safetensors(path, {{"w", tensor({1}, {1})}});
  const std::string before = bytes_of(path);
  CHECK_THROWS_WITH(write_safetensors(path, {{"w", tensor({1}, {1})}, {"w", tensor({1}, {1})}}),
                    Contains(path) && Contains("'w' again"));
  CHECK_THROWS_WITH(write_safetensors(path, {{"__metadata__", tensor({1}, {1})}}), Contains("__metadata__"));
  CHECK_THROWS_WITH(write_safetensors(path, {{"\xff", tensor({1}, {1})}}),
                    Catch::Matchers::EndsWith("a name or the metadata is no UTF-8"));
  CHECK_THROWS_WITH(write_safetensors(path, {{"w", Tensor({1}, DType::float32, "meta")}}), Contains("meta"));
  CHECK(bytes_of(path) == before);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  CHECK_THROWS_WITH(write_safetensors(folder.path("none/w"), {}), Contains("none/w") && Contains("No such file"));
  CHECK_THROWS_WITH(write_safetensors("/dev/null", {}), Contains("/dev/null"));
  if (fs::exists("/dev/full")) CHECK_THROWS_WITH(write_safetensors("/dev/full", {}), Contains("/dev/full"));
}

}  // namespace
}  // namespace dnn
