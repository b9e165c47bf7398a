#!/usr/bin/env bash
# What nvcc makes of the sources for CUDA; exit code 77, skipped, without nvcc. The headers of kernels/ that kernels of
# a device need mean there what they mean here; the kernels of kernels/cuda pass bench/ptxas.py and link to one library;
# the textbook's kernels that test kernels/emulation compile as CUDA.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nvcc=
for candidate in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
  if [ -z "$nvcc" ] && [ -x "$candidate" ]; then nvcc=$candidate; fi
done
if [ -z "$nvcc" ]; then
  echo "nvcc_test: skipped, as there is no nvcc on the PATH, in \$CUDA_HOME or in /usr/local/cuda"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags=(-std=c++20 --expt-relaxed-constexpr -Werror all-warnings -I "$root" -I "$root/kernels/emulation/include")

echo "nvcc_test: headers"
for program in host_device cuda_index; do
  "$nvcc" "${flags[@]}" "$root/tests/programs/$program.cu" -o "$folder/$program"
  "$folder/$program"
done

echo "nvcc_test: kernels/cuda"
python3 "$root/bench/ptxas.py" --objects "$folder/objects"
"$nvcc" -shared -Xcompiler -fPIC "$folder"/objects/*.o -o "$folder/libkernels.so"

# The device's part of them, for sm_80 as some reduce by one instruction; what the tests then ask the model has no meaning to nvcc but must be declared.
printf '#include <emulation/control.h>\nusing namespace emu;\n' >"$folder/model.h"
sources=$(find "$root/kernels/emulation/tests/textbook" -name '*.cu' | sort)
echo "nvcc_test: kernels/emulation/tests/textbook, $(wc -w <<<"$sources") sources"
printf '%s\n' "$sources" | xargs -P2 -I{} "$nvcc" "${flags[@]}" -include "$folder/model.h" \
  -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -fatbin {} -o /dev/null
