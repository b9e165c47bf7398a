#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

#include <libdnn/formats/npy.h>
#include <libdnn/formats/tensor_proto.h>

#include "../files.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Protobuf's encoding by hand: a number of seven bits a byte, and fields of numbers and of bytes.
std::string varint(uint64_t value) {
  std::string text;
  for (; value > 127; value >>= 7) text += static_cast<char>(value | 128);
  return text + static_cast<char>(value);
}
std::string number(int field, uint64_t value) { return varint(static_cast<uint64_t>(field) << 3) + varint(value); }
std::string bytes(int field, const std::string& content) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(content.size()) + content;
}

// The numbers of ONNX's fields and types.
enum {
  kDims = 1,
  kType = 2,
  kSegment = 3,
  kFloats = 4,
  kInt32s = 5,
  kInt64s = 7,
  kName = 8,
  kRaw = 9,
  kDoubles = 10,
  kLocation = 14
};
enum {
  kFloat = 1,
  kUint8 = 2,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kBFloat16 = 16
};

NamedTensor read(const std::string& content) {
  const TemporaryFolder folder;
  return read_tensor_proto(folder.write("input_0.pb", content));
}

std::string refusal(const std::string& content) {
  const TemporaryFolder folder;
  const std::string path = folder.write("input_0.pb", content);
  try {
    read_tensor(path);
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains(path));
    return error.what();
  }
  return "accepted";
}

TEST_CASE("tensor_proto: byte for byte", "[tensor_proto]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("output_0.pb");
  write_tensor(path, tensor({1, -2, 0.5F}, {1, 3}), "y");
  CHECK(bytes_of(path) == number(kDims, 1) + number(kDims, 3) + number(kType, kFloat) + bytes(kName, "y") +
                              bytes(kRaw, raw<float>({1, -2, 0.5F})));
  const NamedTensor back = read_tensor_proto(path);
  CHECK(back.name == "y");
  CHECK(back.tensor.shape() == Shape{1, 3});
  CHECK(back.tensor.to_vector<float>() == std::vector<float>{1, -2, 0.5F});
}

TEST_CASE("tensor_proto: every type, as raw bytes and as numbers, packed or not", "[tensor_proto]") {
  const std::string dims = number(kDims, 2), packed_dims = bytes(kDims, varint(2));
  const auto minus_one = static_cast<uint64_t>(-1);
  CHECK(read(dims + number(kType, kFloat) + bytes(kFloats, raw<float>({1, 2}))).tensor.to_vector<float>() ==
        std::vector<float>{1, 2});
  CHECK(read(packed_dims + number(kType, kFloat) + varint(kFloats << 3 | 5) + raw<float>({1}) +
             varint(kFloats << 3 | 5) + raw<float>({2}))
            .tensor.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(read(dims + number(kType, kDouble) + bytes(kDoubles, raw<double>({1, 2}))).tensor.to_vector<double>() ==
        std::vector<double>{1, 2});
  CHECK(read(dims + number(kType, kDouble) + bytes(kRaw, raw<double>({1, 2}))).tensor.to_vector<double>() ==
        std::vector<double>{1, 2});
  CHECK(read(dims + number(kType, kInt32) + bytes(kInt32s, varint(minus_one) + varint(300)))
            .tensor.to_vector<int32_t>() == std::vector<int32_t>{-1, 300});
  CHECK(read(dims + number(kType, kInt32) + bytes(kRaw, raw<int32_t>({-1, 300}))).tensor.to_vector<int32_t>() ==
        std::vector<int32_t>{-1, 300});
  CHECK(read(dims + number(kType, kInt64) + bytes(kInt64s, varint(minus_one) + varint(uint64_t{1} << 31)))
            .tensor.to_vector<int64_t>() == std::vector<int64_t>{-1, int64_t{1} << 31});
  CHECK(read(dims + number(kType, kInt64) + bytes(kRaw, raw<int64_t>({-1, 300}))).tensor.to_vector<int64_t>() ==
        std::vector<int64_t>{-1, 300});
  for (const std::string& elements :
       {bytes(kInt32s, varint(0x3c00) + varint(0xc100)), bytes(kRaw, raw<uint16_t>({0x3c00, 0xc100}))}) {
    CHECK(read(dims + number(kType, kFloat16) + elements).tensor.to_vector<Float16>() ==
          std::vector<Float16>{1.0f, -2.5f});
    CHECK(read(dims + number(kType, kBFloat16) + elements).tensor.to_vector<BFloat16>()[1] == -8.0f);
  }
  CHECK(read(dims + number(kType, kBool) + bytes(kInt32s, varint(0) + varint(1))).tensor.to_vector<bool>() ==
        std::vector<bool>{false, true});
  CHECK(read(dims + number(kType, kBool) + bytes(kRaw, std::string("\0\2", 2))).tensor.to_vector<bool>() ==
        std::vector<bool>{false, true});
  CHECK(read(dims + number(kType, kUint8) + bytes(kInt32s, varint(0) + varint(255))).tensor.to_vector<uint8_t>() ==
        std::vector<uint8_t>{0, 255});
  CHECK(read(dims + number(kType, kUint8) + bytes(kRaw, raw<uint8_t>({0, 255}))).tensor.to_vector<uint8_t>() ==
        std::vector<uint8_t>{0, 255});
  // No sizes: a scalar. A size of 0: nothing.
  CHECK(read(number(kType, kFloat) + bytes(kFloats, raw<float>({7}))).tensor.item() == 7);
  CHECK(read(number(kDims, 0) + number(kType, kFloat)).tensor.numel() == 0);
  // Fields that we don't know are passed over.
  CHECK(read(dims + number(kType, kFloat) + bytes(12, "for people") + bytes(kRaw, raw<float>({1, 2}))).tensor.numel() ==
        2);
}

TEST_CASE("tensor_proto: what is no such file is refused by name", "[tensor_proto]") {
  const std::string good =
      number(kDims, 2) + number(kType, kFloat) + bytes(kName, "x") + bytes(kRaw, raw<float>({1, 2}));
  REQUIRE(refusal(good) == "accepted");
  for (size_t length = 0; length < good.size(); ++length) {
    INFO(length);
    CHECK(refusal(good.substr(0, length)) != "accepted");
  }
  CHECK_THAT(refusal("some other file, a text of several words"), Contains("neither"));
  CHECK_THAT(refusal(""), Contains("is empty"));
  CHECK_THAT(refusal(number(kDims, 1) + number(kType, kString)), Contains("data type 8"));
  CHECK_THAT(refusal(number(kDims, 3) + number(kType, kFloat) + bytes(kRaw, raw<float>({1, 2}))),
             Contains("needs 12 bytes for its shape (3); got 8"));
  CHECK_THAT(refusal(number(kDims, 1) + number(kType, kFloat) + bytes(kFloats, raw<float>({1, 2}))),
             Contains("needs 1 elements"));
  CHECK_THAT(refusal(number(kDims, static_cast<uint64_t>(-2)) + number(kType, kFloat)), Contains("(-2)"));
  CHECK_THAT(refusal(number(kDims, INT64_MAX) + number(kDims, INT64_MAX) + number(kType, kFloat)),
             Contains("no tensor can have"));
  CHECK_THAT(refusal(number(kDims, INT32_MAX) + number(kDims, 65535) + number(kType, kFloat)), Contains("got 0"));
  CHECK_THAT(refusal(number(kDims, 1) + number(kType, kUint8) + bytes(kInt32s, varint(256))), Contains("got 256"));
  CHECK_THAT(refusal(number(kDims, 1) + number(kType, kFloat16) + bytes(kInt32s, varint(65536))),
             Contains("got 65536"));
  CHECK_THAT(refusal(number(kDims, 1) + number(kType, kFloat) + number(kLocation, 1)), Contains("another file"));
  CHECK_THAT(refusal(number(kDims, 1) + number(kType, kFloat) + bytes(kSegment, "")), Contains("part"));
  CHECK_THROWS_WITH(read_tensor("no/such/file.pb"), Contains("no/such/file.pb"));
}

TEST_CASE("tensor_proto: the content says what is read, the name what is written", "[tensor_proto]") {
  const TemporaryFolder folder;
  const Tensor x = tensor({1, 2}, {2});
  write_tensor(folder.path("x.npy"), x);
  write_tensor(folder.path("x.pb"), x, "x");
  CHECK(read_npy(folder.path("x.npy")).numel() == 2);
  CHECK(read_tensor_proto(folder.path("x.pb")).name == "x");
  CHECK(read_tensor(folder.write("foreign.pb", bytes_of(folder.path("x.npy")))).to_vector<float>() ==
        std::vector<float>{1, 2});
  CHECK(read_tensor(folder.write("foreign.npy", bytes_of(folder.path("x.pb")))).to_vector<float>() ==
        std::vector<float>{1, 2});
  CHECK_THROWS_WITH(write_tensor(folder.path("x.txt"), x), Contains("x.txt"));
}

}  // namespace
}  // namespace dnn
