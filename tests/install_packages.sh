#!/usr/bin/env bash
# Installs by apt what is missing of the named groups of packages, and nothing else:
#   bash tests/install_packages.sh library tests qemu clang
set -euo pipefail

packages=()
for group in "$@"; do
  case $group in
    library)
      packages+=(g++ cmake ninja-build pkg-config libhwy-dev libfmt-dev zlib1g-dev libzip-dev nlohmann-json3-dev
        libcli11-dev libstb-dev libprotobuf-dev protobuf-compiler)
      ;;
    tests) packages+=(catch2 libbenchmark-dev python3) ;;
    qemu) packages+=(qemu-user) ;;
    clang) packages+=(clang-14 libclang-rt-14-dev) ;;
    *)
      echo "install_packages.sh: the groups are library, tests, qemu, clang; got '$group'" >&2
      exit 2
      ;;
  esac
done

if ! command -v apt-get >/dev/null; then
  echo "There is no apt-get here, so nothing is installed. Needed are Debian's packages, or their like:"
  echo "  ${packages[*]}"
  exit 0
fi

# A tool counts wherever it came from, a library only as a package.
present() {
  case $1 in
    g++ | cmake | pkg-config | python3) command -v "$1" ;;
    ninja-build) command -v ninja ;;
    qemu-user) command -v qemu-x86_64 ;;
    clang-14) command -v clang++-14 ;;
    *) [ "$(dpkg-query -W -f '${db:Status-Status}' "$1")" = installed ] ;;
  esac >/dev/null 2>&1
}

missing=()
for package in "${packages[@]}"; do
  present "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Packages are missing, and this is neither root nor is there sudo. As root, run:" >&2
    echo "  apt-get update && apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing what is missing: ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
"${apt[@]}" update
"${apt[@]}" install --no-install-recommends "${missing[@]}"
