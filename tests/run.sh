#!/usr/bin/env bash
# Installs what is missing, builds the library and its tests, and runs every test. The last line says
# "N passed, N failed", the one before "N skipped" where this machine can't run some; the exit code is 0 where none
# failed.
#   bash tests/run.sh              Release, in build/
#   bash tests/run.sh --sanitize   with AddressSanitizer and UBSan, clang++-14 and a static library, in build-sanitize/;
#                                  without the tests tagged [large], which are whole nets
#   bash tests/run.sh --clang      Release with clang++-14 and a static library, in build-clang/
#   bash tests/run.sh --qemu       some tests of the kernels on an emulated CPU without AVX, from the Release build
# BUILD_DIR names another folder to build in. Arguments -D... go to CMake. build/tests/kernel_tests and library_tests
# are Catch2 programs: run one by hand with a name or a tag, such as "[conv2d]".
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

preset=release
qemu=false
options=()
for argument in "$@"; do
  case $argument in
    --sanitize) preset=sanitize ;;
    --clang) preset=clang ;;
    --qemu) qemu=true ;;
    -D*) options+=("$argument") ;;
    *)
      echo "run.sh: the arguments are --sanitize, --clang, --qemu and -DNAME=VALUE; got '$argument'" >&2
      exit 2
      ;;
  esac
done
case $preset in
  release) folder=$root/build ;;
  *) folder=$root/build-$preset ;;
esac
mkdir -p "${BUILD_DIR:-$folder}"
build=$(cd "${BUILD_DIR:-$folder}" && pwd)

groups=(library tests)
[ $preset != release ] && groups+=(clang)
$qemu && groups+=(qemu)
bash "$root/tests/install_packages.sh" "${groups[@]}"

target=all
$qemu && target=kernel_tests
if ! (cd "$root" && cmake --preset $preset -B "$build" -DDNN_TESTS=ON "${options[@]}" && cmake --build "$build" --target $target); then
  echo "FAILED: the build in $build"
  echo "0 passed, 1 failed"
  exit 1
fi

passed=0
failed=0
skipped=0
failures=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Prints "PASSED FAILED" as the Catch2 program that wrote $log counts its test cases; nothing where it gave no summary.
summary() {
  awk '/^All tests passed/ { sub(/.* in /, ""); passed = $1; seen = 1 }
    /^test cases:/ {
      seen = 1
      for (i = split($0, part, "|"); i > 1; --i) {
        if (part[i] ~ /passed *$/) passed = part[i] + 0
        if (part[i] ~ /failed *$/) failed = part[i] + 0
      }
    }
    END { if (seen) print passed + 0, failed + 0 }' "$log"
}

# program NAME COMMAND...: a Catch2 program; its test cases are counted, a crash is one failure.
program() {
  local name=$1 status=0 good bad
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$log" || status=$?
  read -r good bad <<<"$(summary)" || true
  passed=$((passed + ${good:-0}))
  failed=$((failed + ${bad:-0}))
  if [ "${bad:-0}" != 0 ]; then
    failures+=("$bad of $name")
  elif [ $status != 0 ] || [ "${good:-0}" = 0 ]; then
    failed=$((failed + 1))
    failures+=("$name ended with exit code $status")
  fi
}

# script NAME COMMAND...: counts as one test, passed, failed, or skipped where it ends with exit code 77.
script() {
  local name=$1 status=0
  shift
  echo "== $name"
  "$@" || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77)
      skipped=$((skipped + 1))
      echo "SKIPPED: $name"
      ;;
    *)
      failed=$((failed + 1))
      failures+=("$name")
      ;;
  esac
}

# emulation BUILD FOLDER ORDER...: the tests of kernels/emulation, threads and blocks in each order.
emulation() {
  local kind=$1 folder=$2 order file
  shift 2
  for order in "$@"; do
    for file in "$folder"/tests/*_test; do
      EMU_ORDER=$order program "$(basename "$file"), $kind build, $order order" "$file"
    done
  done
}

# build_model BUILD SOURCE: another build of the model of CUDA, by itself or with the plug-in of kernels/cuda.
build_model() {
  cmake -S "$root/kernels/$2" -B "$build/$1" -G Ninja -DEMU_BUILD="$1" -DEMU_TESTS=ON "${options[@]}" &&
    cmake --build "$build/$1"
}

# Both in the background: most tests leave a core idle.
start_building_models() {
  (build_model sanitize emulation && build_model checked cuda) >"$build/models.log" 2>&1 &
  models=$!
}
built_models() { wait "$models" || { cat "$build/models.log" && false; }; }

# cuda_kernels ORDER [FOLDER]: the tests of the kernels that there are for CUDA, on the model, by the plug-in in FOLDER.
cuda_kernels() {
  local tests="[unary],[activation],[power],[binary],[copy_strided],[fill],[gemm]"
  [ $# = 1 ] || tests+=",[.cuda_traffic]"
  grep -oE '_Z[A-Za-z0-9_]+,75,[0-9]+' "$root/bench/results/ptxas.csv" | sed 's/,75,/,/' >"$build/registers.csv"
  DNN_TEST_ROW=cuda_emulated DNN_PLUGINS=${2:-$build} EMU_ORDER=$1 EMU_REGISTERS=$build/registers.csv program \
    "kernels for CUDA, $1 order${2:+, $(basename "$2")}" "$build/tests/kernel_tests" "$tests"
}

if $qemu; then
  # Without plug-ins: the model of CUDA reserves more addresses than this emulator has room for.
  DNN_PLUGINS=/nowhere program "kernel_tests on an emulated Nehalem" qemu-x86_64 -cpu Nehalem "$build/tests/kernel_tests" \
    "*by hand*,[.nehalem]"
else
  filter=()
  [ $preset = sanitize ] && filter=("~[large]~[.]")
  [ $preset = sanitize ] || start_building_models
  for file in "$build"/tests/*_tests; do
    program "$(basename "$file")" "$file" "${filter[@]}"
  done
  if [ $preset != sanitize ]; then
    # What names no device runs once more where the host can't touch the memory and kernels run late.
    program "library_tests on a fake device" "$build/tests/library_tests" --device fake "~[large]~[golden]~[.]"
    script "the builds of kernels/emulation" built_models
    emulation plain "$build/kernels/emulation" forward reverse random
    emulation sanitize "$build/sanitize" random
    emulation checked "$build/checked/emulation" forward
    cuda_kernels random
    cuda_kernels reverse "$build/checked"
    script include_rule_test bash "$root/tests/include_rule_test.sh"
    script nvcc_test bash "$root/tests/nvcc_test.sh"
    script bench_row_test bash "$root/tests/bench_row_test.sh"
    script command_test bash "$root/tests/command_test.sh" "$build"
  fi
  script install_test bash "$root/tests/install_test.sh" "$build"
fi

for failure in "${failures[@]}"; do
  echo "FAILED: $failure"
done
[ $skipped = 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
