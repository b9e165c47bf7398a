#pragma once
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pickles.h"

namespace dnn::zips {

// The content in deflate's form, without a header.
inline std::string deflated(const std::string& content) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string result(deflateBound(&stream, content.size()), '\0');
  std::string input = content;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

struct Entry {
  std::string name, bytes;  // as they lie in the archive
  uint32_t checksum, size;  // of the content, or what the archive is to say of it
  uint16_t method = 8;      // deflate
};

inline Entry deflated_entry(const std::string& name, const std::string& content) {
  const uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  return {name, deflated(content), static_cast<uint32_t>(checksum), static_cast<uint32_t>(content.size())};
}

// An archive of the entries by hand (PKWARE's APPNOTE.TXT, 4.3). With `overlap` all say that they lie where the first
// one does.
inline std::string archive(const std::vector<Entry>& entries, bool overlap = false) {
  using pickles::number;
  std::string files, directory;
  for (const Entry& entry : entries) {
    const std::string fields = number(20, 2) + number(0, 2) + number(entry.method, 2) + number(0, 2) + number(0x21, 2) +
                               number(entry.checksum, 4) + number(entry.bytes.size(), 4) + number(entry.size, 4) +
                               number(entry.name.size(), 2) + number(0, 2);
    directory += "PK\x01\x02" + number(20, 2) + fields + std::string(10, '\0') + number(overlap ? 0 : files.size(), 4) +
                 entry.name;
    if (files.empty() || !overlap) files += "PK\x03\x04" + fields + entry.name + entry.bytes;
  }
  return files + directory + "PK\x05\x06" + number(0, 4) + number(entries.size(), 2) + number(entries.size(), 2) +
         number(directory.size(), 4) + number(files.size(), 4) + number(0, 2);
}

}  // namespace dnn::zips
