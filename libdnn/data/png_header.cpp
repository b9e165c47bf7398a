#include <libdnn/data/png_header.h>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <string_view>

#include <kernels/error.h>
#include <libdnn/data/exif.h>
#include <libdnn/data/image.h>

namespace dnn {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kSignature = 8, kAround = 12;  // around a chunk's content: length, type and check sum
constexpr uint8_t kPalette = 3;                 // the color type

uint32_t word(Bytes bytes, size_t at) {
  return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Inflates what it is given, to find faults alone.
class Inflation {
 public:
  Inflation() {
    if (inflateInit(&stream_) != Z_OK) throw Error("[image] zlib could not be set up");
  }
  ~Inflation() { inflateEnd(&stream_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  // False at a fault. Beyond `most` bytes, which no picture needs, nothing is looked at.
  bool add(Bytes packed, uint64_t most) {
    stream_.next_in = const_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    while (!ended_ && stream_.total_out < most) {
      stream_.next_out = room_.data();
      stream_.avail_out = static_cast<uInt>(room_.size());
      const int status = inflate(&stream_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      if (status == Z_BUF_ERROR) return true;  // all is read
      if (status != Z_OK && !ended_) return false;
    }
    return true;
  }

 private:
  z_stream stream_{};
  bool ended_ = false;
  std::array<uint8_t, 1 << 14> room_;
};

// What the chunks so far have said.
class Chunks {
 public:
  Chunks(const std::string& name, int64_t max_pixels) : name_(name), max_pixels_(max_pixels) {}

  // `at` is where the chunk begins in the file.
  void add(std::string_view type, Bytes content, size_t at) {
    if (!std::all_of(type.begin(), type.end(), is_letter)) throw damaged("the type of a chunk is not four letters");
    // A capital letter at the beginning: no decoder may pass the chunk over.
    if (type[0] <= 'Z' && type != "IHDR" && type != "PLTE" && type != "IDAT" && type != "IEND") {
      throw Error(fmt::format("[image] {} is not supported: a chunk {} says how to read it", name_, type));
    }
    if ((type == "IHDR") != first_) throw damaged("it must begin with its IHDR chunk, and have one of them");
    first_ = false;
    if (type == "IHDR") {
      read_header(content);
    } else if (type == "PLTE") {
      read_palette(content, at);
    } else if (type == "tRNS") {
      if (indexed_ && content.size() > colors_) {
        throw damaged(
            fmt::format("its tRNS chunk comes to {} colors, its palette so far to {}", content.size(), colors_));
      }
    } else if (type == "IDAT") {
      if (indexed_ && colors_ == 0) throw damaged("it has no palette before its pixels");
      if (!pixels_.add(content, most_bytes_)) throw damaged("its compressed pixels are not sound");
    } else if (type == "eXIf") {
      read_exif(content);
    }
  }

  const PngHeader& header() const { return header_; }

 private:
  Error damaged(const std::string& what) const { return Error(fmt::format("[image] {} is damaged: {}", name_, what)); }

  void read_header(Bytes content) {
    constexpr size_t kSize = 13, kDepth = 8, kColorType = 9;
    if (content.size() != kSize) throw damaged(fmt::format("its IHDR chunk has {} bytes", content.size()));
    const uint64_t width = word(content, 0), height = word(content, 4);
    check_image_size(name_, static_cast<int64_t>(width), static_cast<int64_t>(height), max_pixels_);
    most_bytes_ = 16 * (width + 8) * (height + 8);  // twice the 8 bytes of the largest pixel; lines may begin with one
    depth_ = content[kDepth];
    indexed_ = content[kColorType] == kPalette;
    if (indexed_ && depth_ != 1 && depth_ != 2 && depth_ != 4 && depth_ != 8) {
      throw damaged(fmt::format("it has a palette and {} bits a pixel", depth_));
    }
  }

  void read_palette(Bytes content, size_t at) {
    constexpr size_t kMost = 256;
    if (colors_ > 0) throw damaged("it has two palettes");
    if (content.empty() || content.size() % 3 != 0 || content.size() > 3 * kMost) {
      throw damaged(fmt::format("it has a palette of {} bytes; 1 to {} colors have three each", content.size(), kMost));
    }
    colors_ = content.size() / 3;
    if (indexed_) header_.missing_colors = std::max(0, (1 << depth_) - static_cast<int>(colors_));
    header_.palette = at;
  }

  void read_exif(Bytes content) {
    constexpr std::string_view kPrefix("Exif\0\0", 6);  // of JPEG's segment; some programs write it here as well
    if (exif_) return;
    exif_ = true;
    const bool prefixed = starts_with(content, kPrefix);
    header_.orientation = exif_orientation(prefixed ? content.subspan(kPrefix.size()) : content);
  }

  const std::string& name_;
  int64_t max_pixels_;
  PngHeader header_;
  Inflation pixels_;
  uint64_t most_bytes_ = 0;
  bool first_ = true, indexed_ = false, exif_ = false;
  int depth_ = 0;
  size_t colors_ = 0;
};

}  // namespace

PngHeader read_png_header(Bytes file, const std::string& name, int64_t max_pixels) {
  Chunks chunks(name, max_pixels);
  for (size_t at = kSignature;;) {
    if (file.size() - at < kAround || word(file, at) > file.size() - at - kAround) {
      throw Error(fmt::format("[image] {} is cut: it ends before the picture does", name));
    }
    const size_t length = word(file, at), end = at + 8 + length;
    const Bytes typed = file.subspan(at + 4, 4 + length);
    if (crc32_z(0, typed.data(), typed.size()) != word(file, end)) {
      throw Error(fmt::format("[image] {} is damaged: a check sum does not fit", name));
    }
    const std::string_view type(reinterpret_cast<const char*>(typed.data()), 4);
    chunks.add(type, typed.subspan(4), at);
    if (type == "IEND") return chunks.header();
    at = end + 4;
  }
}

std::vector<uint8_t> with_whole_palette(Bytes file, const PngHeader& header) {
  std::vector<uint8_t> changed(file.begin(), file.end());
  const uint32_t length = word(file, header.palette), more = 3 * static_cast<uint32_t>(header.missing_colors);
  const size_t end = header.palette + 8 + length;
  changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(end), more, uint8_t{0});
  for (size_t i = 0; i < 4; ++i) changed[header.palette + i] = static_cast<uint8_t>((length + more) >> (24 - 8 * i));
  return changed;
}

}  // namespace dnn
