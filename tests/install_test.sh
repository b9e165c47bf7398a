#!/usr/bin/env bash
# Installs the build to a temporary folder, moves that, and compiles and runs two programs against it in an empty
# folder, by CMake and by pkg-config: README.md's example, and one that includes every installed header.
#   bash tests/install_test.sh BUILD
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
compiler=$(cached CMAKE_CXX_COMPILER)
sanitizers=$(cached DNN_SANITIZE)
[ -z "$sanitizers" ] || export CXXFLAGS=-fsanitize=$sanitizers  # CMake reads it too

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/staged" >"$work/log"
mv "$work/staged" "$work/installed"
prefix=$work/installed

mkdir "$work/program"
cd "$work/program"
awk '/^```cpp$/ { inside = 1; next } inside && /^```$/ { exit } inside' "$root/README.md" >readme.cpp
{
  (cd "$prefix/include/dnn" && find . -name '*.h' | sed 's|^\./\(.*\)|#include <\1>|' | sort)
  echo 'int main() { return dnn::backend("reference").name != "reference"; }'
} >headers.cpp
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(program LANGUAGES CXX)
find_package(dnn 0.1 REQUIRED)
foreach(name readme headers)
  add_executable(${name} ${name}.cpp)
  target_link_libraries(${name} PRIVATE dnn::dnn)
endforeach()
END

echo "dnn info"
"$prefix/bin/dnn" info >/dev/null

echo "find_package(dnn)"
cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" >>"$work/log"
cmake --build build >>"$work/log" || { cat "$work/log"; exit 1; }
build/headers
build/readme

echo "pkg-config dnn"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name dnn.pc)")
export PKG_CONFIG_PATH
libraries=$(pkg-config --variable=libdir dnn)
for name in headers readme; do
  # shellcheck disable=SC2046,SC2086
  "$compiler" -std=c++20 ${CXXFLAGS:-} $name.cpp -o $name $(pkg-config --cflags --libs dnn)
  LD_LIBRARY_PATH=$libraries ./$name
done
