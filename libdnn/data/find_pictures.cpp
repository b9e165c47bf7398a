#include <libdnn/data/find_pictures.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <kernels/error.h>

namespace dnn {
namespace {

namespace fs = std::filesystem;

bool is_picture_name(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".bmp";
}

bool is_file(const fs::directory_entry& entry) {
  std::error_code ignored;
  return entry.is_regular_file(ignored) || (entry.is_symlink(ignored) && !entry.exists(ignored));
}

// Reads folders, each once.
class Search {
 public:
  // A folder's own parent is not that of its path where that is a link.
  explicit Search(const fs::path& folder) {
    for (const fs::path& from : {fs::absolute(folder).parent_path(), folder}) {
      for (fs::path above = fs::canonical(from); read_.insert(above).second; above = above.parent_path()) {
      }
    }
    folders_.push_back(folder);
  }

  // Links come last, by name, so that a folder goes by its own path, and by the same one everywhere.
  FoundPictures run(bool recursive) {
    while (!folders_.empty() || !links_.empty()) {
      if (folders_.empty()) {
        add(*links_.begin());
        links_.erase(links_.begin());
        continue;
      }
      const fs::path folder = folders_.back();
      folders_.pop_back();
      for (const fs::directory_entry& entry : fs::directory_iterator(folder)) look_at(entry, recursive);
    }
    FoundPictures found{{}, std::move(hidden_)};
    std::sort(pictures_.begin(), pictures_.end());
    for (const auto& [folder, name] : pictures_) found.paths.push_back((fs::path(folder) / name).string());
    std::sort(found.hidden.begin(), found.hidden.end());
    return found;
  }

 private:
  void add(const fs::path& folder) {
    if (read_.insert(fs::canonical(folder)).second) folders_.push_back(folder);
  }

  void look_at(const fs::directory_entry& entry, bool recursive) {
    std::error_code ignored;
    const bool folder = entry.is_directory(ignored);
    if (folder ? !recursive : !is_picture_name(entry.path()) || !is_file(entry)) return;
    if (is_hidden_name(entry.path().filename().string())) {
      hidden_.push_back(entry.path().string());
    } else if (!folder) {
      pictures_.emplace_back(entry.path().parent_path().string(), entry.path().filename().string());
    } else if (entry.is_symlink()) {
      links_.insert(entry.path());
    } else {
      add(entry.path());
    }
  }

  std::set<fs::path> read_;        // canonical: the folders read or about to be, and those above the first
  std::vector<fs::path> folders_;  // to be read
  std::set<fs::path> links_;       // to folders
  std::vector<std::pair<std::string, std::string>> pictures_;  // folder and name
  std::vector<std::string> hidden_;
};

}  // namespace

bool is_hidden_name(const std::string& name) { return name.starts_with('.') || name == "__MACOSX"; }

FoundPictures find_pictures(const std::string& folder, bool recursive) try {
  return Search(folder).run(recursive);
} catch (const fs::filesystem_error& error) {
  throw Error(fmt::format("[find_pictures] cannot read the folder {}: {}",
                          error.path1().empty() ? folder : error.path1().string(), error.code().message()));
}

}  // namespace dnn
