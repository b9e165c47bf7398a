#!/usr/bin/env bash
# Not among the tests that run.sh runs, for it takes half an hour: each AlexNet and GoogLeNet of the examples reaches 90 %
# training accuracy on its own 64 pictures within 150 steps, with the example's defaults and three seeds.
#   bash tests/examples_test.sh [FOLDER OF THE BUILD]
set -uo pipefail
build=$(cd "${1:-build}" && pwd)
failed=0
for run in "alexnet alexnet" "alexnet caffe_alexnet" "googlenet googlenet" "googlenet caffe_googlenet"; do
  read -r program model <<<"$run"
  for seed in 1 2 3; do
    result=$("$build/examples/$program" --model "$model" --seed $seed | awk '$1 == "epoch" && match($0, /accuracy [0-9.]+ %/) {
      accuracy = substr($0, RSTART + 9, RLENGTH - 11) + 0
      if (accuracy > best) best = accuracy
      if (accuracy >= 90 && !step) step = $4
    } END { printf "%s at step %s, best %.1f %%", (step && step <= 150 ? "90 %" : "not 90 %"), step, best }')
    echo "$model, seed $seed: $result"
    [[ $result == "90 %"* ]] || failed=$((failed + 1))
  done
done
[ $failed = 0 ]
