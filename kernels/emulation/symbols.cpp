#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unordered_map>

#include "state.h"
#include "symbols.h"

// Names of functions, also of those that are local to a source and so unknown to the dynamic linker.
namespace emu {
namespace {

using Names = std::unordered_map<uintptr_t, std::string>;  // by the address in the file

void add_symbols(Names& names, const char* file, size_t bytes) {
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(file);
  if (bytes < sizeof *header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  if (header->e_shoff + header->e_shnum * sizeof(ElfW(Shdr)) > bytes) return;
  const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(file + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
    const ElfW(Shdr)& texts = sections[sections[i].sh_link];
    if (sections[i].sh_offset + sections[i].sh_size > bytes || texts.sh_offset + texts.sh_size > bytes) continue;
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(file + sections[i].sh_offset);
    for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; ++k) {
      if (ELF64_ST_TYPE(symbols[k].st_info) != STT_FUNC || symbols[k].st_name >= texts.sh_size) continue;
      names.emplace(symbols[k].st_value, file + texts.sh_offset + symbols[k].st_name);
    }
  }
}

Names read_names(const char* path) {
  Names names;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return names;
  struct stat status;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    const auto bytes = static_cast<size_t>(status.st_size);
    void* const data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (data != MAP_FAILED) {
      add_symbols(names, static_cast<const char*>(data), bytes);
      munmap(data, bytes);
    }
  }
  close(file);
  return names;
}

}  // namespace

LoadedFile loaded_file(uintptr_t code_address) {
  Dl_info info;
  void* map = nullptr;
  if (dladdr1(reinterpret_cast<void*>(code_address), &info, &map, RTLD_DL_LINKMAP) == 0 || !map) return {};
  const auto* const link = static_cast<const link_map*>(map);
  // The program itself has no name here, and may not be where it was called.
  return {*link->l_name ? link->l_name : "/proc/self/exe", code_address - link->l_addr};
}

std::string mangled_name(const void* function) {
  const std::lock_guard lock(model_mutex());
  static auto& files = *new std::map<std::string, Names>;
  const LoadedFile place = loaded_file(reinterpret_cast<uintptr_t>(function));
  if (place.path.empty()) return {};
  auto found = files.find(place.path);
  if (found == files.end()) found = files.emplace(place.path, read_names(place.path.c_str())).first;
  if (const auto name = found->second.find(place.address); name != found->second.end()) return name->second;
  Dl_info info;  // of a file whose own table of symbols was taken away
  const bool known = dladdr(function, &info) != 0 && info.dli_saddr == function && info.dli_sname;
  return known ? info.dli_sname : "";
}

std::string kernel_name(const void* kernel) {
  const std::string mangled = mangled_name(kernel);
  if (mangled.empty()) return "a kernel without a name";
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  // "void scope::kernel<float>(float*, int)": without its result and parameters.
  const std::string anonymous = "(anonymous namespace)::";
  for (size_t at; (at = name.find(anonymous)) != std::string::npos;) name.erase(at, anonymous.size());
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    depth += (name[i] == '<') - (name[i] == '>');
    if (name[i] == '(' && depth == 0) name.resize(i);
  }
  return name.starts_with("void ") ? name.substr(5) : name;
}

}  // namespace emu
