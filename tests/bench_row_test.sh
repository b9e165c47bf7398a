#!/usr/bin/env bash
# bench/compare.py and compare_mnist.py measure the row that the device "cpu" stands for, unless told otherwise, and say
# which: with a program that lists rows and notes what it is asked to run.
#   bash tests/bench_row_test.sh
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset DNN_ISA

cat >"$work/bench" <<'PROGRAM'
#!/usr/bin/env bash
for argument in "$@"; do
  case $argument in
    --benchmark_list_tests)
      for row in $ROWS; do echo "conv2d_forward/lenet:conv1/$row/real_time"; done
      exit 0
      ;;
    --benchmark_filter=*) echo "$argument" >>"$ASKED" ;;
  esac
done
PROGRAM
chmod +x "$work/bench"
export ROWS ASKED=$work/asked

# expect ROW ROWS ARGUMENTS...: with such rows, compare.py prints ROW and asks for it.
expect() {
  local row=$1
  ROWS=$2
  shift 2
  rm -f "$ASKED"
  python3 "$root/bench/compare.py" "$work/bench" --only nothing-has-this-name "$@" >"$work/out"
  grep -q "libdnn's row: $row," "$work/out" || { echo "FAILED: $row expected of '$ROWS' $*"; cat "$work/out"; exit 1; }
}
expect cpu_avx512 "cpu_baseline cpu_avx2 cpu_avx512"
expect cpu_avx2 "cpu_baseline cpu_avx2"
expect cpu_baseline "cpu_baseline"
expect cpu_avx2 "cpu_baseline cpu_avx2 cpu_avx512" --row cpu_avx2
DNN_ISA=avx2 expect cpu_avx2 "cpu_baseline cpu_avx2 cpu_avx512"
DNN_ISA=baseline expect cpu_baseline "cpu_baseline cpu_avx2 cpu_avx512"

# The one shape of that name is asked of that row.
name=$(grep -v '^#' "$root/bench/conv_shapes.csv" | sed -n 2p | cut -d, -f1)
ROWS="cpu_baseline cpu_avx512"
python3 "$root/bench/compare.py" "$work/bench" --only "$name" --seconds 0.001 --batch 1 >"$work/out"
grep -q "/cpu_avx512/" "$ASKED" || { echo "FAILED: asked for $(cat "$ASKED")"; exit 1; }

ROWS=""
if python3 "$root/bench/compare.py" "$work/bench" 2>"$work/error"; then
  echo "FAILED: a program without rows is accepted"
  exit 1
fi
grep -q "has no row of cpu_avx512, cpu_avx2, cpu_baseline" "$work/error" || { cat "$work/error"; exit 1; }

# The MNIST script takes it from the same place.
python3 - "$root/bench" "$work/bench" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import os
import compare_mnist
env = dict(os.environ, ROWS="cpu_baseline cpu_avx2")
assert compare_mnist.cpu_row(sys.argv[2], env) == "cpu_avx2"
assert compare_mnist.cpu_row(sys.argv[2], dict(env, DNN_ISA="baseline")) == "cpu_baseline"
PYTHON
