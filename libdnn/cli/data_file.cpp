#include <filesystem>

#include <libdnn/cli/command.h>

namespace dnn::cli {

std::string find_data_file(const std::string& name) {
  std::error_code fault;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", fault);
  if (fault) return "";
  for (const char* const folder : {"share/dnn", DNN_DATA_FROM_PROGRAM}) {
    const std::filesystem::path path = (program.parent_path() / folder / name).lexically_normal();
    if (std::filesystem::is_regular_file(path, fault)) return path.string();
  }
  return "";
}

}  // namespace dnn::cli
