#!/usr/bin/env bash
# The command `dnn` and the examples as a user meets them: exit codes, messages of one line, files. Argument: the folder
# of the build. Runs in an empty folder; ends with exit code 1 and says why where something is not as it should be.
set -uo pipefail
build=$(cd "$1" && pwd)
data=$(cd "$(dirname "${BASH_SOURCE[0]}")/../data/mnist" && pwd)
pictures=$(cd "$(dirname "${BASH_SOURCE[0]}")/data/pictures" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
faults=0

fault() {
  echo "command_test: $1" >&2
  faults=$((faults + 1))
}

# refuses CODE TEXT ARGUMENTS...: dnn ends with this code and one line on standard error that contains the text.
refuses() {
  local code=$1 text=$2
  shift 2
  "$build/dnn" "$@" >out 2>err
  local status=$?
  [ $status = "$code" ] || fault "dnn $*: exit code $status instead of $code"
  [ "$(wc -l <err)" = 1 ] || fault "dnn $*: $(wc -l <err) lines of error: $(cat err)"
  grep -qF -- "$text" err || fault "dnn $*: no '$text' in: $(cat err)"
}

refuses 2 "lenet" train --model no_net
refuses 2 "linear" train --model lenet --lr-schedule cosine
refuses 2 "reference" train --model lenet --device gpu
refuses 2 "--epochs" train --model lenet --epochs 0
refuses 2 "--batch" train --model lenet --batch many
refuses 2 "--model" train
refuses 2 "--speed" train --model lenet --speed 9
refuses 2 "above 0; got 0" train --model lenet --epochs 0
refuses 2 "--seed" train --model lenet --seed -1
refuses 2 "--seed" train --model lenet --seed 18446744073709551616
refuses 2 "--lr" train --model lenet --lr nan
refuses 2 "meta" train --model lenet --device meta
refuses 2 "--model" train --model alexnet
refuses 2 "no/such/run.json" train --model lenet --json no/such/run.json
refuses 2 "'dance'" dance
for arguments in info --help "summary --model lenet"; do
  # shellcheck disable=SC2086
  if "$build/dnn" $arguments >/dev/full 2>err; then fault "dnn $arguments did not see that its output is full"; fi
  grep -q "standard output" err || fault "dnn $arguments > /dev/full: $(cat err)"
done
refuses 2 "no/such/folder" train --model lenet --data no/such/folder
refuses 2 "no.safetensors" test --model lenet --weights no.safetensors
mkdir empty
refuses 1 "train-images" train --model lenet --data empty
echo "no weights" >foreign.safetensors
refuses 1 "foreign.safetensors" test --model lenet --weights foreign.safetensors --data "$data"
[ -e runs ] && [ -n "$(find runs -type f)" ] && fault "a refused run left files: $(find runs -type f)"

"$build/dnn" train --model lenet --data "$data" --limit 640 --epochs 1 --out run --json run.json >out ||
  fault "dnn train: exit code $?"
trained=$(tail -1 out)
[[ $trained =~ ^test\ accuracy:\ [0-9]+\.[0-9][0-9]\ %$ ]] || fault "the last line of dnn train is '$trained'"
[ -s run/log.csv ] && [ -s run/weights.safetensors ] && [ -s run.json ] || fault "dnn train left no log, weights or JSON"
[ "$(ls run | wc -l)" = 2 ] || fault "dnn train left more than log and weights: $(ls run)"
tested=$("$build/dnn" test --model lenet --data "$data" --weights run/weights.safetensors --json test.json | tail -1)
[ "$tested" = "$trained" ] || fault "dnn test says '$tested', training said '$trained'"
refuses 1 "conv1.weight" test --model mnist_cnn --weights run/weights.safetensors --data "$data"

# DNN_CONV=direct leaves out Winograd's method, of which the results are still as near to the reference.
DNN_CONV=direct DNN_VERBOSE=1 "$build/tests/kernel_tests" "conv2d: Winograd's forward*" >out 2>&1 ||
  fault "DNN_CONV=direct: $(tail -5 out)"
grep -q conv2d_direct out && ! grep -q conv2d_winograd out || fault "DNN_CONV=direct still takes another method"
DNN_CONV=fft "$build/tests/kernel_tests" "conv2d: Winograd's forward*" >out 2>&1 && fault "DNN_CONV=fft is accepted"
grep -qF "got 'fft'" out || fault "DNN_CONV=fft is refused without saying so"

# dnn run: two black pictures from a .npy file, N, C, H, W, to ten logits each, as .npy and as .pb.
{
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 28, 28), }"
  head -c 6272 /dev/zero
} >black.npy
for output in logits.npy logits.pb; do
  "$build/dnn" run --model lenet --weights run/weights.safetensors --input black.npy --output $output >out ||
    fault "dnn run: exit code $?"
done
grep -qF "(2, 1, 28, 28) to (2, 10)" out || fault "dnn run says: $(cat out)"
cmp -s <(tail -c 80 logits.npy) <(tail -c 80 logits.pb) || fault "dnn run's two forms of output differ"
cmp -s <(tail -c 80 logits.npy | head -c 40) <(tail -c 40 logits.npy) || fault "dnn run: equal pictures, other logits"
# The same as float64, NumPy's own type.
{
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, 28, 28), }"
  head -c 12544 /dev/zero
} >black64.npy
"$build/dnn" run --model lenet --weights run/weights.safetensors --input black64.npy --output logits64.npy >out &&
  cmp -s logits.npy logits64.npy || fault "dnn run takes float64 otherwise than float32"
refuses 2 "logits.txt" run --model lenet --weights run/weights.safetensors --input black.npy --output logits.txt
refuses 1 "read as (N, C, H, W) = (2, 10)" run --model lenet --weights run/weights.safetensors --input logits.pb --output other.npy
refuses 1 "foreign.safetensors" run --model lenet --weights run/weights.safetensors --input foreign.safetensors --output x.pb
[ -e other.npy ] || [ -e x.pb ] && fault "a refused dnn run left a file"

# dnn classify: two files and a folder, with a picture that cannot be read among them.
classify=(classify --model lenet --weights run/weights.safetensors)
mkdir -p seen/deeper
cp "$pictures/rgb.png" seen/b.PNG
cp "$pictures/cmyk.jpg" seen/a.jpg
cp "$pictures/rgb.bmp" seen/deeper/c.bmp
echo "no picture" >seen/notes.txt
"$build/dnn" "${classify[@]}" "$pictures/grey.png" seen --top 3 --batch 2 --json seen.json >out ||
  fault "dnn classify: exit code $?"
grep -q "^preprocessing: .* 28 x 28, grey" out || fault "dnn classify names no preprocessing: $(cat out)"
[ "$(grep -c '%' out)" = 9 ] || fault "dnn classify gives not three classes for each of three pictures: $(cat out)"
[ "$(grep -o '"file": "[^"]*"' seen.json | cut -d'"' -f4 | tr '\n' ' ')" = "$pictures/grey.png seen/a.jpg seen/b.PNG " ] ||
  fault "dnn classify: other files than given, or in another order: $(cat seen.json)"
[ "$(grep -c '"probability"' seen.json)" = 9 ] || fault "dnn classify: $(cat seen.json)"
"$build/dnn" "${classify[@]}" seen --recursive --batch 1 >deeper && grep -q "seen/deeper/c.bmp" deeper ||
  fault "dnn classify --recursive: $(cat deeper)"
# Results depend neither on the batch nor on the threads.
"$build/dnn" "${classify[@]}" "$pictures/grey.png" seen --top 3 --batch 3 --threads 1 >again
cmp -s <(grep % out) <(grep % again) || fault "dnn classify: another batch, other results"
# Hidden files and folders are left out and counted; a link to a folder above ends.
mkdir -p hidden/.ipynb_checkpoints
cp "$pictures/rgb.png" hidden/.ipynb_checkpoints/a-checkpoint.png
cp "$pictures/rgb.png" hidden/a.png
echo "no picture" >hidden/._a.png
ln -s .. hidden/up
"$build/dnn" "${classify[@]}" hidden --recursive >out || fault "dnn classify of hidden files: exit code $?"
grep -q "left out: 2 hidden" out && grep -q "^1 pictures;" out || fault "dnn classify of hidden files: $(cat out)"
seq 10 | sed 's/^/number /' >labels.txt
"$build/dnn" "${classify[@]}" seen/a.jpg --top 10 --labels labels.txt | grep -q "%  9: number 10" || fault "dnn classify: no labels"
head -c 100 "$pictures/rgb.png" >seen/cut.png
refuses 1 "seen/cut.png is cut" "${classify[@]}" seen
"$build/dnn" "${classify[@]}" seen --skip-bad >out 2>err || fault "dnn classify --skip-bad: exit code $?"
grep -q "2 pictures, 1 skipped" out && grep -q "seen/cut.png" err || fault "dnn classify --skip-bad: $(cat out err)"
refuses 1 "empty" "${classify[@]}" empty
seq 9 >labels.txt
refuses 1 "9 labels" "${classify[@]}" seen/a.jpg --labels labels.txt
refuses 2 "no/such.png" "${classify[@]}" no/such.png
refuses 2 "--order" "${classify[@]}" seen/a.jpg --order rbg
refuses 2 "--mean" "${classify[@]}" seen/a.jpg --mean 1,2

# Without --out every run has a folder of its own.
# Two runs at once, each into a folder of its own.
"$build/dnn" train --model mnist_cnn --data "$data" --limit 64 --epochs 1 --threads 1 >out &
"$build/dnn" train --model mnist_cnn --data "$data" --limit 64 --epochs 1 --threads 1 >other_out || fault "dnn train"
wait $! || fault "dnn train beside another"
[ -s runs/mnist_cnn/weights.safetensors ] && [ -s runs/mnist_cnn-2/weights.safetensors ] || fault "runs: $(ls runs)"

# Ctrl-C finishes the step, saves, and ends with 130.
"$build/dnn" train --model lenet --data "$data" --epochs 1000 --out stopped >out 2>err &
dnn=$!
for _ in $(seq 600); do
  [ -s stopped/log.csv ] && break
  grep -q "results in" out && sleep 0.5 && break
  sleep 0.1
done
kill -INT $dnn
wait $dnn
status=$?
[ $status = 130 ] || fault "dnn after Ctrl-C: exit code $status instead of 130; $(cat err)"
[ -s stopped/weights.safetensors ] || fault "dnn after Ctrl-C left no weights"
grep -q "interrupted after .* steps" out || fault "dnn after Ctrl-C does not say that it was interrupted: $(tail -3 out)"

"$build/dnn" info | grep -q "cpu_baseline" || fault "dnn info names no rows"
"$build/dnn" summary --model resnet18 --batch 4 | grep -q "forward *14.5.. GFLOP" || fault "dnn summary: FLOPs of resnet18"
"$build/dnn" summary --model vgg16 --size 64 96 --json summary.json >/dev/null &&
  grep -q '"parameters": 138357544' summary.json || fault "dnn summary --json"
"$build/dnn" --help >/dev/null || fault "dnn --help: exit code $?"

# The three ways of the two-layer net give the same losses, and these fall.
"$build/examples/two_layer_net" --iterations 3 --runs 1 >out || fault "two_layer_net: exit code $?"
awk '/loss/ { if (($3 in first) && ($5 - first[$3]) ^ 2 > (1e-5 * first[$3]) ^ 2) exit 1; first[$3] = $5 }
  END { exit !(first["0"] > first["2"] && first["2"] > 0) }' out || fault "two_layer_net: losses differ or rise: $(cat out)"

# AlexNet and GoogLeNet on synthetic pictures and on a folder; classify with the weights. Losses fall, and the total is
# the weighted sum of the three.
"$build/examples/alexnet" --model alexnet --size 63 --synthetic 4 --batch 4 --steps 2 >out || fault "alexnet: exit code $?"
grep -q "^epoch 2  step 2  loss .* images/s" out || fault "alexnet says: $(cat out)"
"$build/examples/googlenet" --size 64 --synthetic 20 --batch 10 --epochs 3 --out googlenet.safetensors >out ||
  fault "googlenet: exit code $?"
awk '$1 == "epoch" { sum = $6 * $9 + $11 * $14 + $16 * $19; if ((sum - $21) ^ 2 > 1e-6) exit 1; total[$2] = $21 }
  END { exit !(total[3] < total[1] && total[3] > 0) }' out || fault "googlenet: a wrong sum, or a loss that rises: $(cat out)"
"$build/examples/classify" --model googlenet --weights googlenet.safetensors --classes 10 "$pictures/rgb.png" \
  "$pictures/rgb.bmp" >out || fault "classify: exit code $?"
[ "$(grep -c '%  class' out)" = 10 ] || fault "classify says: $(cat out)"
mkdir -p animals/cat animals/dog
cp "$pictures/rgb.png" "$pictures/grey.png" animals/cat
cp "$pictures/rgb.jpg" animals/dog
"$build/examples/googlenet" --data animals --size 64 --batch 2 --epochs 1 >out || fault "googlenet --data: exit code $?"
grep -q "3 pictures in 2 classes, 2 steps" out || fault "googlenet --data says: $(cat out)"
"$build/examples/alexnet" --data empty >out 2>err && fault "alexnet takes an empty folder"
grep -qF "no folder of a class in empty" err || fault "alexnet on an empty folder says: $(cat err)"

[ $faults = 0 ]
