#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

#include <libdnn/formats/npy.h>

#include "../files.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string file_with(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> 8 * i);
  return bytes + header + data;
}

std::string header(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

Tensor read(const std::string& content) {
  const TemporaryFolder folder;
  return read_npy(folder.write("array.npy", content));
}

std::string refusal(const std::string& content) {
  const TemporaryFolder folder;
  const std::string path = folder.write("array.npy", content);
  try {
    read_npy(path);
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains(path));
    return error.what();
  }
  return "accepted";
}

TEST_CASE("npy: byte for byte as numpy.save writes", "[npy]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("array.npy");
  write_npy(path, from_vector<float>({1, -2, 0.5F}, {3}));
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  CHECK(bytes_of(path) == std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + std::string(117 - text.size(), ' ') +
                              "\n" + raw<float>({1, -2, 0.5F}));
}

TEST_CASE("npy: what is written is read", "[npy]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("array.npy");
  for (const Tensor& tensor : {tensor({1, -2.5F, 3, 4, 5, 6}, {2, 1, 3}), tensor({42}, {}), tensor({}, {0, 4}),
                               from_vector<double>({1e-300}, {1}, "reference"), from_vector<int32_t>({-100, 7}, {2, 1}),
                               from_vector<uint8_t>({1, 2, 255}, {3}), from_vector<int64_t>({int64_t{1} << 60}, {1}),
                               from_vector<Float16>({-2.5f, 1.0f}, {2}), from_vector<bool>({true, false}, {1, 2})}) {
    write_npy(path, tensor);
    const Tensor back = read_npy(path);
    CHECK(back.dtype() == tensor.dtype());
    CHECK(back.shape() == tensor.shape());
    CHECK(bytes_of(path).size() % 64 == static_cast<size_t>(tensor.numel() * size_of(tensor.dtype())) % 64);
    write_npy(folder.path("again.npy"), back);
    CHECK(bytes_of(path) == bytes_of(folder.path("again.npy")));
  }
  CHECK_THROWS_WITH(write_npy(path, zeros({1}, DType::bfloat16)),
                    Contains("[write_npy] " + path) && Contains("no bfloat16"));
}

TEST_CASE("npy: versions, orders, int64 and ways to write the header", "[npy]") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  for (const int version : {1, 2, 3}) {
    const Tensor tensor = read(file_with(header("<f4", "(2, 3)"), raw(values), version));
    CHECK(tensor.shape() == Shape{2, 3});
    CHECK(tensor.to_vector<float>() == values);
  }
  CHECK(read(file_with(header("<f4", "(2, 3)", "True"), raw<float>({1, 4, 2, 5, 3, 6}))).to_vector<float>() == values);
  CHECK(read(file_with(header("|u1", "(2, 1, 2, 1)", "True"), raw<uint8_t>({0, 2, 1, 3}))).to_vector<uint8_t>() ==
        std::vector<uint8_t>{0, 1, 2, 3});
  CHECK(read(file_with(header("<i8", "(2,)"), raw<int64_t>({-7, int64_t{1} << 40}))).to_vector<int64_t>() ==
        std::vector<int64_t>{-7, int64_t{1} << 40});
  CHECK(read(file_with(header("<f2", "(2,)"), raw<uint16_t>({0x3c00, 0xc100}))).to_vector<Float16>() ==
        std::vector<Float16>{1.0f, -2.5f});
  CHECK(read(file_with(header("|b1", "(3,)"), std::string("\0\1\2", 3))).to_vector<bool>() ==
        std::vector<bool>{false, true, true});
  CHECK(read(file_with("{\"shape\":( 1 ,2),'fortran_order':False,'descr':'<f8'}   ", raw<double>({1, 2})))
            .to_vector<double>() == std::vector<double>{1, 2});
  CHECK(read(file_with(header("<f4", "()"), raw<float>({9}))).item() == 9);
}

TEST_CASE("npy: what is no such file is refused by name", "[npy]") {
  const std::string good = file_with(header("<f4", "(2, 3)"), std::string(24, 'x'));
  REQUIRE(read(good).numel() == 6);
  for (size_t length = 0; length < good.size(); ++length) {
    INFO(length);
    CHECK(refusal(good.substr(0, length)) != "accepted");
  }
  CHECK_THAT(refusal(good + "x"), Contains("needs 24 bytes for its shape (2, 3) and type; got 25"));
  CHECK_THAT(refusal("PK\3\4 and more"), Contains("no .npy file"));
  CHECK_THAT(refusal(file_with(header("<f4", "(2, 3)"), std::string(24, 'x'), 4)), Contains("version 4.0"));
  CHECK_THAT(refusal(file_with(header(">f4", "(2, 3)"), std::string(24, 'x'))), Contains("'>f4'"));
  CHECK_THAT(refusal(file_with(header("|O", "(2, 3)"), std::string(24, 'x'))), Contains("'|O'"));
  CHECK_THAT(refusal(file_with(header("<f4", "(-2, -3)"), std::string(24, 'x'))), Contains("(-2, -3)"));
  CHECK_THAT(refusal(file_with(header("<f4", "(2147483647, 2147483647, 2147483647)"), "")),
             Contains("no tensor can have"));
  CHECK_THAT(refusal(file_with(header("<f4", "(2147483647, 65535)"), "")), Contains("got 0"));
  CHECK_THAT(refusal(file_with(header("<f4", "(99999999999999999999)"), "")), Contains("header"));
  CHECK_THAT(refusal(file_with(header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1)"), "xxxx")), Contains("no tensor can have"));
  for (const char* wrong :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} more"}) {
    INFO(wrong);
    CHECK_THAT(refusal(file_with(wrong, "xxxx")), Contains("header"));
  }
  CHECK_THAT(refusal("\x93NUMPY\x02" + std::string(1, '\0') + "\xFF\xFF\xFF\xFF"),
             Contains("header of 4294967295 bytes"));
  CHECK_THROWS_WITH(read_npy("no/such/file"), Contains("no/such/file"));
}

}  // namespace
}  // namespace dnn
