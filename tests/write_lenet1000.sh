#!/usr/bin/env bash
# Writes weights of LeNet with 1,000 classes, all of them zero, to a safetensors file:
#   bash tests/write_lenet1000.sh FILE
# The net's answer to any picture is that all classes are equally likely.
set -euo pipefail
begin=0
header='{'
# add NAME SHAPE ELEMENTS
add() {
  local end=$((begin + 4 * $3))
  header+="\"$1\":{\"dtype\":\"F32\",\"shape\":$2,\"data_offsets\":[$begin,$end]},"
  begin=$end
}
add conv1.weight "[20,1,5,5]" 500
add conv1.bias "[20]" 20
add conv2.weight "[50,20,5,5]" 25000
add conv2.bias "[50]" 50
add ip1.weight "[500,800]" 400000
add ip1.bias "[500]" 500
add ip2.weight "[1000,500]" 500000
add ip2.bias "[1000]" 1000
header=${header%,}'}'
length=${#header}
{
  # shellcheck disable=SC2059
  printf "\\x$(printf %02x $((length % 256)))\\x$(printf %02x $((length / 256)))\0\0\0\0\0\0%s" "$header"
  head -c "$begin" /dev/zero
} >"$1"
