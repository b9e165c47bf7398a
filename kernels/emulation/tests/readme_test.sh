#!/bin/sh
# readme_test.sh <emulation folder> <library> <compiler> <options to compile with> <options to link with>
# The example of the README compiles and gives what is said there, also about the barrier that is taken out.
set -eu
folder=$1 library=$2 compiler=$3 compile_options=$4 link_options=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {
  # shellcheck disable=SC2086
  "$compiler" -std=c++20 -g1 -Wall -Wno-sign-compare -Wno-unknown-pragmas -Werror $compile_options \
    -I "$folder/stand_in" -I "$folder/include" -c -x c++ "$work/$1.cu" -o "$work/$1.o"
  # shellcheck disable=SC2086
  "$compiler" $link_options "$work/$1.o" "$library" -ldl -pthread -o "$work/$1"
}

sed -n '/^```cuda$/,/^```$/p' "$folder/README.md" | sed '1d;$d' > "$work/row_sums.cu"
build row_sums
for order in forward reverse random; do
  printed=$(EMU_ORDER=$order "$work/row_sums")
  if [ "$printed" != "no error: 500 500 500" ]; then
    echo "in $order order the example prints: $printed"
    exit 1
  fi
done

grep -v __syncthreads "$work/row_sums.cu" > "$work/no_barrier.cu"
build no_barrier
if EMU_ORDER=forward "$work/no_barrier" > "$work/printed" 2>&1 && ! grep -q race "$work/printed"; then
  echo "the missing barrier does not show"
  exit 1
fi
