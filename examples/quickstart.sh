#!/usr/bin/env bash
# Installs what is missing, builds the library and the command `dnn` in build/ (BUILD_DIR names another folder), and
# trains LeNet on MNIST for two epochs. The last line says "test accuracy: NN.NN %".
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build}
mkdir -p "$build"
build=$(cd "$build" && pwd)

bash "$root/tests/install_packages.sh" library
cd "$root"
cmake --preset release -B "$build" -DDNN_TESTS=OFF -DDNN_BENCH=OFF
cmake --build "$build"
"$build/dnn" train --model lenet --data data/mnist --epochs 2 --out "$build/lenet" --overwrite
