#include <libdnn/formats/zip_writer.h>

#include <fmt/format.h>
#include <zlib.h>

#include <limits>

#include <kernels/error.h>

namespace dnn {
namespace {

constexpr size_t kAlignment = 64;
constexpr uint16_t kVersion = 20, kUtf8Names = 0x0800, kFirstDay = 0x21;  // 1 January 1980
constexpr uint16_t kPadding = 0x4246;                                     // the extra field that PyTorch pads with

void append16(std::string& bytes, uint32_t value) {
  bytes += static_cast<char>(value & 0xff);
  bytes += static_cast<char>(value >> 8 & 0xff);
}

void append32(std::string& bytes, uint32_t value) {
  append16(bytes, value & 0xffff);
  append16(bytes, value >> 16);
}

// What the header before the data and the directory have in common.
void append_description(std::string& bytes, uint32_t checksum, uint32_t size, const std::string& name) {
  append16(bytes, kVersion);
  append16(bytes, kUtf8Names);
  append16(bytes, 0);  // stored
  append16(bytes, 0);  // time
  append16(bytes, kFirstDay);
  append32(bytes, checksum);
  append32(bytes, size);
  append32(bytes, size);
  append16(bytes, static_cast<uint32_t>(name.size()));
}

}  // namespace

void ZipWriter::write(const std::string& bytes) {
  file_.write(bytes.data(), bytes.size());
  at_ += bytes.size();
}

void ZipWriter::add(const std::string& name, const void* data, size_t bytes) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max() - (1u << 24);  // leaves room for the directory
  if (bytes > kMost || at_ + bytes > kMost || entries_.size() == std::numeric_limits<uint16_t>::max()) {
    throw Error(
        fmt::format("[write] {}: 65,535 parts and 4 GiB are the most for this kind of file; write safetensors", path_));
  }
  const uint64_t checksum = crc32_z(0, static_cast<const Bytef*>(data), bytes);
  entries_.push_back({name, static_cast<uint32_t>(checksum), static_cast<uint32_t>(bytes), static_cast<uint32_t>(at_)});

  std::string header;
  append32(header, 0x04034b50);
  append_description(header, entries_.back().checksum, entries_.back().size, name);
  constexpr size_t kLengthField = 2, kExtraHeader = 4;
  const size_t data_begin = at_ + header.size() + kLengthField + name.size() + kExtraHeader;
  const size_t padding = (kAlignment - data_begin % kAlignment) % kAlignment;
  append16(header, static_cast<uint32_t>(kExtraHeader + padding));
  header += name;
  append16(header, kPadding);
  append16(header, static_cast<uint32_t>(padding));
  header.append(padding, 'Z');
  write(header);
  file_.write(data, bytes);
  at_ += bytes;
}

void ZipWriter::commit() {
  std::string directory;
  for (const Entry& entry : entries_) {
    append32(directory, 0x02014b50);
    append16(directory, kVersion);
    append_description(directory, entry.checksum, entry.size, entry.name);
    append16(directory, 0);  // extra fields
    append16(directory, 0);  // comment
    append16(directory, 0);  // disk
    append16(directory, 0);  // internal attributes
    append32(directory, 0);  // external attributes
    append32(directory, entry.offset);
    directory += entry.name;
  }
  const uint64_t begin = at_, size = directory.size(), count = entries_.size();
  append32(directory, 0x06054b50);
  append16(directory, 0);  // this disk
  append16(directory, 0);  // the disk where the directory begins
  append16(directory, static_cast<uint32_t>(count));
  append16(directory, static_cast<uint32_t>(count));
  append32(directory, static_cast<uint32_t>(size));
  append32(directory, static_cast<uint32_t>(begin));
  append16(directory, 0);  // comment
  write(directory);
  file_.commit();
}

}  // namespace dnn
