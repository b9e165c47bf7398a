#!/usr/bin/env bash
# The headers of kernels/ that kernels of a device need compile with nvcc, and mean the same there; skipped without nvcc.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nvcc=$(command -v nvcc || true)
if [ -z "$nvcc" ]; then
  echo "nvcc_test: skipped, as there is no nvcc"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$nvcc" -std=c++20 --expt-relaxed-constexpr -Werror all-warnings -I "$root" "$root/tests/programs/host_device.cu" \
  -o "$folder/host_device"
"$folder/host_device"
