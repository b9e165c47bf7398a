#include <libdnn/data/stb_decode.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <kernels/error.h>

namespace {

// stb_image takes memory for numbers in the file. A block is zeroed, since a damaged file may leave it unfilled, and no
// larger than what a picture of the size that was checked can need.
thread_local size_t stb_largest_block = 0;

void* stb_allocate(size_t bytes) { return bytes <= stb_largest_block ? std::calloc(1, bytes) : nullptr; }

void* stb_reallocate(void* block, size_t bytes) {
  return bytes <= stb_largest_block ? std::realloc(block, bytes) : nullptr;
}

struct StbFault {};

// In the place of assert(), which would end the program; no file is known to get there.
void stb_require(bool holds) {
  if (!holds) throw StbFault();
}

}  // namespace

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ASSERT(condition) stb_require(condition)
#define STBI_MALLOC(bytes) stb_allocate(bytes)
#define STBI_REALLOC(block, bytes) stb_reallocate(block, bytes)
#define STBI_FREE(block) std::free(block)
#include <stb/stb_image.h>

namespace dnn {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

// Hands the file out and notices whether more is asked for than it has: stb_image itself reads zeros there.
struct Source {
  std::span<const uint8_t> left;
  bool overrun = false;

  static int read(void* user, char* to, int count) {
    Source& self = *static_cast<Source*>(user);
    const size_t have = std::min(self.left.size(), static_cast<size_t>(count));
    if (have == 0) self.overrun = true;
    std::memcpy(to, self.left.data(), have);
    self.left = self.left.subspan(have);
    return static_cast<int>(have);
  }
  static void skip(void* user, int count) {
    Source& self = *static_cast<Source*>(user);
    const size_t wanted = static_cast<size_t>(std::max(count, 0));
    if (wanted > self.left.size()) self.overrun = true;
    self.left = self.left.subspan(std::min(wanted, self.left.size()));
  }
  static int at_end(void* user) { return static_cast<Source*>(user)->left.empty() ? 1 : 0; }
};

constexpr stbi_io_callbacks kCallbacks{Source::read, Source::skip, Source::at_end};

using Pixels = std::unique_ptr<stbi_uc, void (*)(void*)>;

Pixels decode(Source& source, int* width, int* height) {
  int channels = 0;
  try {
    return {stbi_load_from_callbacks(&kCallbacks, &source, width, height, &channels, 3), stbi_image_free};
  } catch (const StbFault&) {
    return {nullptr, stbi_image_free};
  }
}

[[noreturn]] void fail(const std::string& name, const Source& source) {
  const char* const reason = stbi_failure_reason();
  throw Error(source.overrun ? fmt::format("[image] {} is cut: it ends before the picture does", name)
                             : fmt::format("[image] {} is damaged or not supported: {}", name,
                                           reason ? reason : "it is inconsistent"));
}

}  // namespace

Image stb_decode(std::span<const uint8_t> file, const std::string& name, int64_t max_pixels) {
  stb_largest_block = kMebibyte;
  int width = 0, height = 0, channels = 0;
  Source header{file};
  if (!stbi_info_from_callbacks(&kCallbacks, &header, &width, &height, &channels)) fail(name, header);
  check_image_size(name, width, height, max_pixels);

  // Twice the 8 bytes of the largest pixel, with edges up to a multiple of a JPEG's blocks: buffers grow by doubling.
  constexpr size_t kEdge = 64;
  stb_largest_block =
      kMebibyte + 2 * file.size() + 16 * (static_cast<size_t>(width) + kEdge) * (static_cast<size_t>(height) + kEdge);
  Source source{file};
  const Pixels pixels = decode(source, &width, &height);
  if (!pixels || source.overrun) fail(name, source);
  return {height, width, {pixels.get(), pixels.get() + int64_t{3} * width * height}};
}

}  // namespace dnn
