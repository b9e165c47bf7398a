#pragma once
#include <string>
#include <vector>

namespace dnn {

struct FoundPictures {
  std::vector<std::string> paths;   // by folder, then by name within it: torchvision's order
  std::vector<std::string> hidden;  // the pictures and folders that were left out because they are hidden
};

// The files in a folder, and if `recursive` in those below it, that end in .jpg, .jpeg, .png or .bmp. Links are
// followed: a folder is read once, however many lead to it, and one to a folder above isn't. A link to nothing counts
// as the picture that it is named as. What is hidden is left out. Error where a folder can't be read.
FoundPictures find_pictures(const std::string& folder, bool recursive = true);

// Whether files and folders of this name are left out: those that begin with a dot, as .ipynb_checkpoints and ._a.jpg
// do, and __MACOSX.
bool is_hidden_name(const std::string& name);

}  // namespace dnn
