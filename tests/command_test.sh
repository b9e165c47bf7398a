#!/usr/bin/env bash
# The command `dnn` and the examples as a user meets them: exit codes, messages of one line, files. Argument: the folder
# of the build. Runs in an empty folder; ends with exit code 1 and says why where something is not as it should be.
set -uo pipefail
build=$(cd "$1" && pwd)
data=$(cd "$(dirname "${BASH_SOURCE[0]}")/../data/mnist" && pwd)
pictures=$(cd "$(dirname "${BASH_SOURCE[0]}")/data/pictures" && pwd)
weights=$(cd "$(dirname "${BASH_SOURCE[0]}")/data" && pwd)
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
refuses 2 "--model is required" train
refuses 2 "unknown option '--speed'" train --model lenet --speed 9
refuses 2 "unknown option '--modle'; see dnn train --help" train --modle lenet
refuses 2 "unknown option '-x'" -x
refuses 2 "unexpected argument 'more'" info more
refuses 2 "--batch needs a value" train --model lenet --batch
refuses 2 "--size needs 2 values; got 1" summary --model lenet --size 3
refuses 2 "--model is given more than once" test --model lenet --model lenet
refuses 2 "--recursive takes no value" classify --model lenet --recursive=7
refuses 2 "whole number above 0; got 1.5" train --model lenet --batch 1.5
refuses 2 "from 1 to 1024; got 0" train --model lenet --threads 0
refuses 2 "from 1 to 1024; got 1025" train --model lenet --threads 1025
refuses 2 "--out: must not be empty" train --model lenet --out ""
refuses 2 "from 1 to 2147483647; got 99999999999" train --model lenet --epochs 99999999999
refuses 2 "got 010" train --model lenet --epochs 010
refuses 2 "mobilenet_v2 and 18 more; got no_net" summary --model no_net
refuses 2 "must be one of nearest, bilinear, bicubic; got cubic" classify --model lenet --interpolation cubic
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
echo >empty.txt
refuses 1 "train-images" train --model lenet --data empty
refuses 2 "--data: empty.txt is a file, not a folder" train --model lenet --data empty.txt
refuses 2 "--weights: empty is a folder, not a file" test --model lenet --weights empty

# An option that the others leave without effect.
train=(train --model lenet --data "$data")
refuses 2 "--lr-gamma has no effect with --lr-schedule linear" "${train[@]}" --lr-gamma 0.5
refuses 2 "--lr-gamma has no effect with --lr-schedule constant" "${train[@]}" --lr-gamma 0.5 --lr-schedule constant
refuses 2 "--lr-step has no effect with --lr-schedule constant" "${train[@]}" --lr-schedule constant --lr-step 5
refuses 2 "--lr-step: the run has 2 steps; got 2" "${train[@]}" --limit 64 --epochs 2 --lr-schedule step --lr-step 2
refuses 2 "--overwrite has no effect without --out" "${train[@]}" --overwrite
refuses 2 "the training set has 60000 pictures; got 60001" "${train[@]}" --limit 60001
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

# What an earlier run left is not written over unless asked for.
cp run/weights.safetensors first.safetensors
short=("${train[@]}" --limit 64 --epochs 1 --threads 1)
refuses 2 "run/log.csv of an earlier run; --overwrite" "${short[@]}" --out run
rm run/log.csv
refuses 2 "run/weights.safetensors of an earlier run; --overwrite" "${short[@]}" --out run
cmp -s run/weights.safetensors first.safetensors || fault "a refused run changed the weights"
# Also: one of what is counted, and half of a run of one step.
"$build/dnn" "${short[@]}" --lr-schedule step --out run --overwrite >out || fault "dnn train --overwrite: exit code $?"
cmp -s run/weights.safetensors first.safetensors && fault "dnn train --overwrite left the earlier weights"
grep -qF " on 1 thread, results" out || fault "dnn train --threads 1 says: $(cat out)"
mkdir notes && touch notes/notes.txt
"$build/dnn" "${train[@]}" --limit 1 --epochs 1 --out notes >out || fault "dnn train --out: refuses a folder without a run"
cp first.safetensors run/weights.safetensors
# A key of a checkpoint, on each command that takes weights; a file that stands for weights.
checkpoint=$weights/beside_protocol2.pth
lenet=(--model lenet --weights "$checkpoint")
refuses 1 "missing conv1.weight, conv1.bias, conv2.weight and 5 more" test "${lenet[@]}" --checkpoint-key net --data "$data"
refuses 1 "has no key 'ema'; it has epoch, args," test "${lenet[@]}" --checkpoint-key ema --data "$data"
refuses 1 "has no key 'ema'" classify "${lenet[@]}" --checkpoint-key ema "$pictures/grey.png"
refuses 1 "has no key 'ema'" run "${lenet[@]}" --checkpoint-key ema --input "$pictures/grey.png" --output x.npy
printf 'version https://git-lfs.github.com/spec/v1\nsize 3\n' >pointer.pth
refuses 1 "pointer.pth is a Git LFS pointer" test --model lenet --weights pointer.pth --data "$data"

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
running=(run --model lenet --weights run/weights.safetensors --input black.npy)
refuses 2 "--output would replace the input, black.npy" "${running[@]}" --output black.npy
refuses 2 "no/such/folder" "${running[@]}" --output no/such/folder/logits.npy
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
# A batch's time stands once, and not at a picture.
[ "$(grep -c ' ms in the net)$' out)" = 2 ] && grep -q "^(2 pictures at a time: " out && grep -q "^(1 picture at a time: " out ||
  fault "dnn classify: the batches' times in: $(cat out)"
[ "$(grep -c ' ms' out)" = 3 ] && [ "$(grep -c '"time_ms"' seen.json)" = 2 ] ||
  fault "dnn classify: more times than batches: $(cat out seen.json)"
"$build/dnn" "${classify[@]}" seen/a.jpg >one && grep -q "^1 picture; " one || fault "dnn classify of one picture: $(cat one)"
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
grep -q "^left out: 2 hidden files and folders$" out && grep -q "^1 picture;" out || fault "dnn classify of hidden files: $(cat out)"
seq 10 | sed 's/^/number /' >labels.txt
"$build/dnn" "${classify[@]}" seen/a.jpg --top 10 --labels labels.txt | grep -q "%  9: number 10" || fault "dnn classify: no labels"
head -c 100 "$pictures/rgb.png" >seen/cut.png
refuses 1 "seen/cut.png is cut" "${classify[@]}" seen
"$build/dnn" "${classify[@]}" seen --skip-bad >out 2>err || fault "dnn classify --skip-bad: exit code $?"
grep -q "^2 pictures, 1 skipped; " out && grep -q "seen/cut.png" err || fault "dnn classify --skip-bad: $(cat out err)"
refuses 1 "empty" "${classify[@]}" empty
mkdir links
ln -s circle.png links/circle.png
refuses 1 "cannot read links/circle.png" "${classify[@]}" links --recursive
seq 9 >labels.txt
refuses 1 "9 labels" "${classify[@]}" seen/a.jpg --labels labels.txt
echo one >labels.txt
refuses 1 "the net has 10 classes; labels.txt has 1 label" "${classify[@]}" seen/a.jpg --labels labels.txt
refuses 2 "--top: the net has 10 classes; got 11" "${classify[@]}" seen/a.jpg --top 11
refuses 2 "--recursive has no effect without a folder" "${classify[@]}" seen/a.jpg --recursive
refuses 2 "--order has no effect on lenet" "${classify[@]}" seen/a.jpg --order bgr
refuses 2 "--interpolation has no effect where nothing is resized" "${classify[@]}" seen/a.jpg --resize 0 --interpolation bicubic
refuses 2 "--mean: lenet has 1 channel; got 3 numbers" "${classify[@]}" seen/a.jpg --mean 0.5,0.5,0.5
refuses 2 "--std: resnet18 has 3 channels; got 1 number" classify --model resnet18 --weights first.safetensors seen/a.jpg --std 0.5
refuses 2 "--std: must not be 0" "${classify[@]}" seen/a.jpg --std 0
"$build/dnn" "${classify[@]}" seen/a.jpg --mean 0.5 --std 0.25 | grep -q "^preprocessing: .*0.5.*0.25" || fault "dnn classify --mean 0.5"
# Tensors that do not fit, some of the many named.
refuses 1 " and 13 more; unused" classify --model alexnet --weights run/weights.safetensors seen/a.jpg
# ImageNet's labels, with no data/ in this folder.
bash "$(dirname "$data")/../tests/write_lenet1000.sh" zero.safetensors
"$build/dnn" classify --model lenet --weights zero.safetensors --classes 1000 seen/a.jpg --top 1000 >out
grep -q "^labels: .*share/dnn/imagenet_labels.txt$" out && grep -q " 0.10 %  0: tench, Tinca tinca$" out &&
  grep -q " 0.10 %  999: toilet tissue, toilet paper, bathroom tissue$" out || fault "dnn classify: labels: $(head -9 out)"
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
"$build/dnn" info | grep -q "cuda_emulated  .*, 2 devices" || fault "dnn info does not know cuda_emulated"

# Libraries that are not there, or are not what they should be.
plugin=libdnn_cuda_emulated.so
mkdir plugins
export DNN_PLUGINS=$PWD/plugins
refuses 2 "[device] cuda_emulated needs $plugin, which is neither beside libdnn nor where DNN_PLUGINS says" \
  train --model lenet --device cuda_emulated
"$build/dnn" info | grep -q "cuda_emulated  not available: needs $plugin" || fault "dnn info on a missing plug-in"
echo text >plugins/$plugin
refuses 2 "needs $plugin, which can't be opened: " train --model lenet --device cuda_emulated
cp "$build/libdnn.so" plugins/$plugin
refuses 2 "needs $plugin, which is no plug-in of libdnn: " train --model lenet --device cuda_emulated
unset DNN_PLUGINS
"$build/dnn" summary --model resnet18 --batch 4 | grep -q "forward *14.5.. GFLOP" || fault "dnn summary: FLOPs of resnet18"
"$build/dnn" summary --model vgg16 --size 64 96 --json summary.json >/dev/null &&
  grep -q '"parameters": 138357544' summary.json || fault "dnn summary --json"
# Help, for a terminal of 80 columns; `dnn` alone prints it too, and ends like one with wrong arguments.
for command in "" train test classify run summary info; do
  # shellcheck disable=SC2086
  "$build/dnn" $command --help >out || fault "dnn $command --help: exit code $?"
  awk 'length > 79 { exit 1 }' out || fault "dnn $command --help: too wide: $(awk 'length > 79' out)"
  grep -qE '\b(TEXT|INT|UINT|FLOAT|ENUM|REQUIRED|SUBCOMMAND)\b|[{}]|->' out && fault "dnn $command --help: $(cat out)"
  grep -q "^Usage: dnn" out && grep -q "show this help$" out || fault "dnn $command --help: $(cat out)"
done
"$build/dnn" --help >out
"$build/dnn" >alone 2>err
[ $? = 2 ] && cmp -s out alone && ! [ -s err ] || fault "dnn alone says: $(cat alone err)"
"$build/dnn" classify --help | grep -qF "nearest, bilinear or bicubic" || fault "dnn classify --help: no words to choose from"

# The three ways of the two-layer net give the same losses, and these fall.
"$build/examples/two_layer_net" --iterations 3 --runs 1 >out || fault "two_layer_net: exit code $?"
awk '/loss/ { if (($3 in first) && ($5 - first[$3]) ^ 2 > (1e-5 * first[$3]) ^ 2) exit 1; first[$3] = $5 }
  END { exit !(first["0"] > first["2"] && first["2"] > 0) }' out || fault "two_layer_net: losses differ or rise: $(cat out)"

# AlexNet and GoogLeNet on synthetic pictures and on a folder; classify with the weights. Losses fall, and the total is
# the weighted sum of the three.
# A number is digits: awk takes -nan for one.
"$build/examples/alexnet" --model alexnet --size 95 --synthetic 16 --steps 30 >out || fault "alexnet: exit code $?"
awk '$1 == "epoch" { if ($6 !~ /^[0-9]+\.[0-9]+$/) exit 1; ++n; if (n <= 10) first += $6; if (n > 20) last += $6 }
  END { exit !(n == 30 && last < first) }' out || fault "alexnet: a loss that is none or does not fall: $(cat out)"
"$build/examples/googlenet" --size 64 --synthetic 20 --batch 10 --epochs 6 --out googlenet.safetensors >out ||
  fault "googlenet: exit code $?"
awk '$1 == "epoch" {
    if (($9 $14 $19 $21) !~ /^[0-9.]+$/) exit 1
    sum = $6 * $9 + $11 * $14 + $16 * $19; if ((sum - $21) ^ 2 > 1e-6) exit 1; total[$2] = $21
  }
  END { exit !(total[6] < total[1] && total[6] > 0) }' out || fault "googlenet: a wrong sum, or a loss that rises: $(cat out)"
"$build/examples/alexnet" --steps none >out 2>&1
[ $? = 2 ] || fault "alexnet --steps none: another exit code than 2, $(cat out)"
# A loss that is not finite ends the program, and says where it arose.
for arguments in "alexnet --model alexnet --size 63" "alexnet --size 227" "googlenet --size 64" "googlenet --model caffe_googlenet"; do
  # shellcheck disable=SC2086
  "$build/examples/"$arguments --synthetic 4 --batch 4 --steps 20 --lr 1e12 >out 2>err
  status=$?
  [ $status = 1 ] && grep -q "the loss is .*nan\|the loss is .*inf" err || fault "$arguments --lr 1e12: exit code $status, $(cat err)"
done
refuses 1 "the loss is" train --model lenet --data "$data" --limit 640 --epochs 1 --lr 1e12 --out diverged
[ -e diverged/weights.safetensors ] && fault "dnn train wrote the weights of a run that diverged"
"$build/examples/classify" --model googlenet --weights googlenet.safetensors --classes 10 "$pictures/rgb.png" \
  "$pictures/rgb.bmp" >out || fault "classify: exit code $?"
[ "$(grep -c '%  class' out)" = 10 ] || fault "classify says: $(cat out)"
"$build/examples/classify" --model lenet --weights run/weights.safetensors "$pictures/rgb.png" >out ||
  fault "classify of a net of grey pictures: exit code $?"
mkdir -p animals/cat animals/dog
cp "$pictures/rgb.png" "$pictures/grey.png" animals/cat
cp "$pictures/rgb.jpg" animals/dog
"$build/examples/googlenet" --data animals --size 64 --batch 2 --epochs 1 >out || fault "googlenet --data: exit code $?"
grep -q "3 pictures in 2 classes, 2 steps" out || fault "googlenet --data says: $(cat out)"
"$build/examples/alexnet" --data empty >out 2>err && fault "alexnet takes an empty folder"
grep -qF "no folder of a class in empty" err || fault "alexnet on an empty folder says: $(cat err)"

# What makes no sense is said before anything is computed: a file that cannot be written, options that exclude others.
for arguments in "alexnet --out no/such/folder/x.pth" "alexnet --out animals" "googlenet --data animals --synthetic 4" \
  "alexnet --steps 1 --epochs 1" "mnist_cnn --help" "mnist_cnn $data 0" "mnist_cnn $data many" \
  "mnist_cnn $data 1 cpu more"; do
  # shellcheck disable=SC2086
  timeout 20 "$build/examples/"$arguments >out 2>err
  status=$?
  [ $status != 0 ] && [ $status != 124 ] && [ -s err ] && ! [ -s out ] ||
    fault "$arguments: exit code $status, says: $(cat out err)"
done

[ $faults = 0 ]
