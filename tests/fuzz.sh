#!/usr/bin/env bash
# Fuzzes a reader of files with libFuzzer, on one core, under AddressSanitizer and UBSan:
#   bash tests/fuzz.sh pth 120
# The names are those of tests/fuzz/readers.h, each with a folder of first inputs in tests/fuzz/corpus/. What the fuzzer
# finds goes to build/fuzz/NAME/: corpus/ has inputs that reached new code, crash-* and the like are faults. Put a fault
# into tests/fuzz/corpus/NAME/ when it is mended; the tests read those files.
# Only libdnn/formats and libdnn/data are built for it; the rest is the library in build/, or in BUILD_DIR.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=${1:-}
seconds=${2:-}
if ! [ -d "$root/tests/fuzz/corpus/${name:-/}" ] || ! [[ $seconds =~ ^[0-9]+$ ]]; then
  echo "fuzz.sh: needs a name out of $(cd "$root/tests/fuzz/corpus" && echo *), and a number of seconds" >&2
  exit 2
fi
build=${BUILD_DIR:-$root/build}
if ! [ -e "$build/libdnn.so" ]; then
  echo "fuzz.sh: there is no libdnn.so in $build; build the library first, as in README.md" >&2
  exit 1
fi

work=$build/fuzz
mkdir -p "$work/objects" "$work/$name/corpus"
flags=(-std=c++20 -g -O1 -fno-omit-frame-pointer -I"$root" -isystem "$build/generated" -DDNN_SOURCE_DIR="\"$root\"")
sanitizers=address,undefined
objects=()
for source in "$root"/libdnn/formats/*.cpp "$root"/libdnn/data/*.cpp "$root"/tests/fuzz/*.cpp; do
  extra=()
  case $source in
    */fuzzer.cpp | *_test.cpp) continue ;;
    */stb_decode.cpp) extra=(-fwrapv -fno-sanitize=shift) ;;  # as in CMakeLists.txt
  esac
  object=${source#"$root"/}
  object=$work/objects/${object//\//-}.o
  objects+=("$object")
  if [ -n "$(find "$root/libdnn" "$root/kernels" "$root/tests" -name '*.h' -newer "$object" 2>&1)" ] ||
    [ "$source" -nt "$object" ]; then
    clang++-14 "${flags[@]}" -fsanitize=fuzzer-no-link,$sanitizers -fno-sanitize-recover=all "${extra[@]}" \
      -c "$source" -o "$object"
  fi
done
# shellcheck disable=SC2046
clang++-14 "${flags[@]}" -fsanitize=fuzzer,$sanitizers -fno-sanitize-recover=all -DREADER="$name" \
  "$root/tests/fuzz/fuzzer.cpp" "${objects[@]}" -o "$work/$name/fuzzer" \
  -L"$build" -ldnn -Wl,-rpath,"$build" $(pkg-config --libs fmt libzip protobuf-lite zlib)

# Files in memory, where the system has a place for them.
[ -d /dev/shm ] && export TMPDIR=${TMPDIR:-/dev/shm}
"$work/$name/fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=256 -max_len=8192 \
  -artifact_prefix="$work/$name/" -print_final_stats=1 "$work/$name/corpus" "$root/tests/fuzz/corpus/$name"
