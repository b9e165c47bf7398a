#!/usr/bin/env bash
# Checks what the compiler doesn't: who may include whom, and what may stand where. Prints FILE:LINE: FAULT for each
# fault; fails where there is one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folders=()
for folder in kernels libdnn examples bench tests .ci; do
  [ -d $folder ] && folders+=("$folder")
done
files=$(find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name '*.py' \
  -o -name '*.cmake' -o -name '*.in' -o -name '*.md' -o -name CMakeLists.txt -o -path .ci/run \) | sort)
files+=$'\n'$(find . -maxdepth 1 -type f \( -name '*.md' -o -name '*.txt' -o -name '*.json' \) | sed 's/^..//' | sort)

# shellcheck disable=SC2086
awk '
BEGIN {
  # Each part of libdnn may include itself, the headers directly in kernels/, and these.
  allowed["core"] = ""
  allowed["autograd"] = "core"
  allowed["ops"] = "core autograd"
  allowed["layers"] = "core autograd ops"
  allowed["optim"] = "core"
  allowed["data"] = "core"
  allowed["models"] = "core autograd ops layers data"
  allowed["formats"] = "core autograd ops layers data models"
  allowed["measure"] = "core autograd ops layers optim data models formats"
  allowed["train"] = "core autograd ops layers optim data models formats measure"
}

function fault(text) {
  printf "%s:%d: %s\n", FILENAME, FNR, text
  faults = 1
}

# Whether this file may include <name>, a header of ours.
function may_include(name,   to, n, i, list) {
  split(name, to, "/")
  if (part == "bench" || part == "tests") return to[1] == "kernels" || to[1] == "libdnn" || to[1] == part
  # The reference is what the others are compared with: they share nothing with it but definitions in kernels/.
  if (FILENAME ~ /^kernels\/(cpu|cuda)\//) return to[1] == "kernels" && to[2] != "reference"
  if (emulation) return 0  # it stands alone
  if (part == "kernels") return to[1] == "kernels" && to[2] != "emulation"
  if (part == "examples" || module == "cli") return name == "libdnn/dnn.h" || (module == "cli" && to[2] == "cli")
  if (module == "dnn.h") return to[1] == "libdnn" && to[2] != "cli"
  if (to[1] == "kernels") return name ~ /^kernels\/[^\/]*$/
  if (to[1] != "libdnn") return 0
  if (to[2] == module) return 1
  n = split(allowed[module], list, " ")
  for (i = 1; i <= n; ++i) if (list[i] == to[2]) return 1
  return 0
}

FNR == 1 {
  split(FILENAME, path, "/")
  part = path[1]
  module = part == "libdnn" ? path[2] : ""
  emulation = FILENAME ~ /^kernels\/emulation\//
  header = FILENAME ~ /\.(h|cuh)$/
  cpp = FILENAME ~ /\.(h|cpp|cu|cuh)$/
  # The headers that users include.
  public = header && (part == "libdnn" && module != "cli" || FILENAME ~ /^kernels\/[^\/]*$/)
}

FNR == 1 && FILENAME ~ /\.(cu|cuh)$/ && FILENAME !~ /^(kernels\/(cuda|emulation)|tests|bench)\// {
  fault("CUDA sources belong to kernels/cuda/")
}

FNR == 401 && FILENAME !~ /\.md$/ { fault("more than 400 lines") }

/(^|[^A-Za-z0-9_.}\/])\/(home|root|work|Users|mnt)\/[A-Za-z]/ { fault("names a path of one machine") }

!cpp { next }

/^ *# *include *"/ {
  if ((part == "kernels" && !emulation) || part == "libdnn") fault("own headers are included by their path, in angle brackets")
}

/^ *# *include *</ {
  name = $0
  sub(/^[^<]*</, "", name)
  sub(/>.*/, "", name)
  ours = name ~ /^(kernels|libdnn|tests|bench|examples)\//
  if (ours && !may_include(name)) fault((module ? part "/" module : part) " may not include <" name ">")
  if (name ~ /^(cuda|cublas|cudnn|cblas)/ && part == "libdnn") fault("<" name "> belongs under kernels/")
  if (name ~ /\.cuh$/ && FILENAME !~ /\.(cu|cuh)$/) fault("<" name "> is for .cu files")
  if (public && !ours && name !~ /^[a-z_]+$/) fault("a public header includes the standard library and ours only")
}

/^ *# *(if|ifdef|ifndef|elif)/ {
  if (header && part == "libdnn" && module != "dnn.h") fault("conditional code in a header of libdnn")
}

/^ *# *pragma *omp|_Pragma *\( *"omp/ {
  fault("threads belong to kernels/parallel.cpp; OpenMP is not used")
}

END { exit faults }
' $files || faulty=1

# libdnn/dnn.h is the whole library: every header is in it, by way of others where these need it, but for what only our
# own sources include.
internal="core/device_status core/dispatch core/scope core/tensor_impl data/bmp data/exif data/jpeg_header data/png_header
  data/stb_decode formats/file_elements formats/first_bytes formats/module_tensors formats/pickle formats/pickle_machine
  formats/pickle_opcodes formats/wrapped_names formats/printable formats/state_dict formats/zip_reader formats/zip_writer
  layers/chain models/basic_conv ops/binary ops/epilogue ops/reduced_dims ops/strided ops/unary train/batch_totals
  train/run_log"
# shellcheck disable=SC2046
awk -v internal="$internal" '
function fault(name, text) {
  printf "%s:1: %s\n", name, text
  faults = 1
}

function reach(name,   i) {
  if (name in reached) return
  reached[name] = 1
  for (i = 1; i <= count[name]; ++i) reach(included[name, i])
}

FNR == 1 { headers[FILENAME] = 1 }

/^ *# *include *<libdnn\// {
  sub(/^[^<]*</, "")
  sub(/>.*/, "")
  included[FILENAME, ++count[FILENAME]] = $0
}

END {
  reach("libdnn/dnn.h")
  n = split(internal, list, " ")
  for (i = 1; i <= n; ++i) {
    name = "libdnn/" list[i] ".h"
    hidden[name] = 1
    if (name in reached) fault(name, "libdnn/dnn.h includes this header, which is listed as internal")
    if (!(name in headers)) fault(name, "listed as internal, but there is no such header")
  }
  for (name in headers) {
    if (!(name in reached) && !(name in hidden)) fault(name, "neither in libdnn/dnn.h nor listed as internal")
  }
  exit faults
}
' $(find libdnn -name '*.h' -not -path 'libdnn/cli/*' | sort) || faulty=1
exit "${faulty:-0}"
