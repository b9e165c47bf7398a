#include <libdnn/data/idx.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <kernels/error.h>

namespace dnn {
namespace {

// A plain or gzipped file, read in order; zlib tells the two apart by the first bytes.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (!file_) throw Error(fmt::format("[idx] cannot open {}: {}", path_, std::strerror(errno)));
  }
  ~Reader() { gzclose(file_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // As many of the `count` bytes as the file still has; Error where it is damaged.
  size_t read(uint8_t* to, size_t count) {
    const int got = gzread(file_, to, static_cast<unsigned>(count));
    int status = Z_OK;
    const char* message = gzerror(file_, &status);
    if (got < 0 || (status != Z_OK && status != Z_STREAM_END)) {
      throw Error(fmt::format("[idx] {} is damaged or cut: {}", path_, message));
    }
    return static_cast<size_t>(got);
  }

  uint32_t read_word() {
    uint8_t bytes[4];
    if (read(bytes, 4) != 4) throw Error(fmt::format("[idx] {} ends within its header", path_));
    return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
  }

 private:
  const std::string& path_;
  gzFile file_;
};

std::vector<int> read_sizes(Reader& file, const std::string& path, int dims) {
  const uint32_t magic = file.read_word(), expected = 0x0800u + static_cast<uint32_t>(dims);
  if (magic != expected) {
    throw Error(fmt::format("[idx] {} has magic number {:#010x}; bytes in {} dimensions have {:#010x}", path, magic,
                            dims, expected));
  }
  std::vector<int> sizes;
  for (int i = 0; i < dims; ++i) {
    const uint32_t size = file.read_word();
    if (size > INT32_MAX) throw Error(fmt::format("[idx] {} promises {} items in dimension {}", path, size, i));
    sizes.push_back(static_cast<int>(size));
  }
  return sizes;
}

}  // namespace

IdxArray read_idx(const std::string& path, int dims) {
  if (dims < 1 || dims > 255) throw Error(fmt::format("[idx] an array has 1 to 255 dimensions; got {}", dims));
  Reader file(path);
  IdxArray array;
  array.sizes = read_sizes(file, path, dims);
  int64_t promised = 1;
  bool overflow = false;
  for (const int size : array.sizes) overflow = overflow || __builtin_mul_overflow(promised, int64_t{size}, &promised);
  if (overflow) throw Error(fmt::format("[idx] {} promises ({}) values", path, fmt::join(array.sizes, " x ")));

  constexpr int64_t kStep = 1 << 20;
  int64_t have = 0;
  for (;;) {
    // One byte more than promised, to notice a file that is too long.
    const int64_t want = std::min(kStep, promised + 1 - have);
    if (want == 0) throw Error(fmt::format("[idx] {} is longer than the {} values of its header", path, promised));
    array.values.resize(static_cast<size_t>(have + want));
    const int64_t got = static_cast<int64_t>(file.read(array.values.data() + have, static_cast<size_t>(want)));
    have += got;
    if (got < want) break;
  }
  array.values.resize(static_cast<size_t>(have));
  if (have < promised) {
    throw Error(fmt::format("[idx] {} promises {} values; got {}", path, promised, have));
  }
  return array;
}

}  // namespace dnn
