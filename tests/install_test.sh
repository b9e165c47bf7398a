#!/usr/bin/env bash
# Installs the build to a temporary folder, moves that, and tries what README.md says about it, in its own commands and in
# empty folders: a program by find_package and by pkg-config. Also one that includes every installed header, one of an
# older standard, the installed command, and when the loader's list is refreshed.
#   bash tests/install_test.sh BUILD
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
compiler=$(cached CMAKE_CXX_COMPILER)
sanitizers=$(cached DNN_SANITIZE)
# CMake reads both.
export CXX=$compiler
[ -z "$sanitizers" ] || export CXXFLAGS=-fsanitize=$sanitizers

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "install_test: $1" >&2
  exit 1
}

# try WHAT COMMAND...: shows what the command printed only where it fails.
try() {
  local what=$1
  shift
  echo "$what"
  "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$what: exit code $?"; }
}

# block LANGUAGE START: the first of README.md's blocks in this language that begins so.
block() {
  awk -v fence="\`\`\`$1" -v start="$2" '
    inside && /^```$/ { if (index(text, start) == 1) { printf "%s", text; found = 1; exit } inside = 0; next }
    inside { text = text $0 "\n" }
    !inside && $0 == fence { inside = 1; text = "" }
    !inside && /^```/ && $0 != fence { while ((getline line) > 0 && line != "```") {} }
    END { exit !found }' "$root/README.md" || fail "README.md has no block that begins with '$2'"
}

# A stand-in for ldconfig: it says that it looks in $listed, and notes when it is run for its purpose.
mkdir "$work/tools"
cat >"$work/tools/ldconfig" <<END
#!/bin/sh
[ \$# = 0 ] && echo refreshed >>"$work/refreshed" || echo "\$listed: (from a test)"
END
chmod +x "$work/tools/ldconfig"
# install PREFIX [DESTDIR]
install() { PATH=$work/tools:$PATH DESTDIR=${2:-} cmake --install "$build" --prefix "$1"; }
refreshed() { [ -e "$work/refreshed" ] && wc -l <"$work/refreshed" || echo 0; }

export listed=/no/such/folder
try "cmake --install" install "$work/staged"
libraries=$(cd "$(dirname "$(find "$work/staged" -name 'libdnn.*' | head -1)")" && pwd)
[ "$(refreshed)" = 0 ] || fail "ldconfig is run though it does not look in $libraries"
listed=$libraries
try "cmake --install where DESTDIR is set" install "$work/staged" "$work/packed"
[ "$(refreshed)" = 0 ] || fail "ldconfig is run though DESTDIR is set"
try "cmake --install to a folder of the loader" install "$work/staged"
shared=0
[ -e "$libraries/libdnn.so" ] && shared=1
[ "$(refreshed)" = $shared ] || fail "ldconfig is run $(refreshed) times instead of $shared"

prefix=$work/installed
mv "$work/staged" "$prefix"
libraries=$prefix${libraries#"$work/staged"}
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name dnn.pc)")
# /usr/local needs none of the three.
export CMAKE_PREFIX_PATH=$prefix PKG_CONFIG_PATH LD_LIBRARY_PATH=

mkdir "$work/program" "$work/headers" "$work/elsewhere"
cd "$work/program"
block cpp "#include <libdnn/dnn.h>" >program.cpp
block cmake "cmake_minimum_required" >CMakeLists.txt
try "README.md: find_package(dnn)" bash -euxc "$(block "" "cmake -S")"
# README.md's compiler is g++, the one of this build may be another.
g++() {
  # shellcheck disable=SC2086
  "$compiler" ${CXXFLAGS:-} "$@"
}
export -f g++
export compiler
LD_LIBRARY_PATH=$libraries try "README.md: pkg-config dnn" bash -euxc "$(block "" "g++ ")"
grep -q "^step 300, loss 0\.[0-9]*$" "$work/log" || fail "README.md's program says: $(cat "$work/log")"

cd "$work/headers"
{
  (cd "$prefix/include/dnn" && find . -name '*.h' | sed 's|^\./\(.*\)|#include <\1>|' | sort)
  echo 'int main() { return dnn::backend("reference").name != "reference"; }'
} >headers.cpp
# shellcheck disable=SC2046
try "every header" g++ -std=c++20 headers.cpp -o headers $(pkg-config --cflags --libs dnn)
LD_LIBRARY_PATH=$libraries ./headers

echo "an older standard"
printf '#include <libdnn/dnn.h>\nint main() {}\n' >old.cpp
# shellcheck disable=SC2046
g++ -std=c++17 -fsyntax-only $(pkg-config --cflags dnn) old.cpp 2>errors && fail "dnn.h is taken for C++17"
[ "$(grep -c 'error: ' errors)" = 1 ] && grep -q 'error: .*libdnn needs C++20' errors ||
  fail "dnn.h below C++20 says: $(head -20 errors)"

cd "$work/elsewhere"
try "dnn info" "$prefix/bin/dnn" info
bash "$root/tests/write_lenet1000.sh" zero.safetensors
try "dnn classify" "$prefix/bin/dnn" classify --model lenet --classes 1000 --weights zero.safetensors \
  "$root/tests/data/pictures/rgb.png"
grep -qF "labels: $prefix/share/dnn/imagenet_labels.txt" "$work/log" && grep -q "0: tench, Tinca tinca$" "$work/log" ||
  fail "the installed dnn finds no labels: $(cat "$work/log")"
