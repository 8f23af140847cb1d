#!/bin/sh
# SPDX-License-Identifier: MIT
# How many checkpoints a second `check --list` gets through: 10,000 of them, small GPT-2s and Llamas, PyTorch files and
# safetensors, with one in 100 that differs and one in 100 that is broken.
#
#   SHAPEPROOF=build/shapeproof sh tests/bench/fleet.sh [COUNT]
set -eu
count=${1:-10000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

place() { # MODEL FILE BEGIN STEP: every STEPth from BEGIN, links to one copy
    n=$3
    mkdir -p "$dir/src/$1"
    cp "fixtures/models/$1/$2" "fixtures/models/$1/config.json" "$dir/src/$1"
    while [ "$n" -lt "$count" ]; do
        echo "$n"
        n=$((n + $4))
    done | (cd "$dir" && sed 's/^/run/' | xargs mkdir && for run in run*; do
        [ -e "$run/config.json" ] || ln "src/$1/$2" "src/$1/config.json" "$run"
    done)
}

place tiny-gpt2 pytorch_model.bin 0 3
place tiny-llama model.safetensors 1 3
place tiny-bert model.safetensors 2 3
n=49
while [ "$n" -lt "$count" ]; do
    run=$dir/run$n
    if [ $((n % 100)) = 99 ]; then
        rm -f "$run"/*.safetensors "$run"/*.bin
        head -c 40 fixtures/models/tiny-llama/model.safetensors >"$run/model.safetensors"
    else
        config=$(sed 's/"\(n_layer\|num_hidden_layers\)": 2/"\1": 3/' "$run/config.json")
        rm "$run/config.json"
        printf '%s\n' "$config" >"$run/config.json"
    fi
    n=$((n + 50))
done
find "$dir" -maxdepth 1 -name 'run*' | sort >"$dir/list"

start=$(date +%s%N)
"$SHAPEPROOF" check --list "$dir/list" >"$dir/out" || true
end=$(date +%s%N)
echo "$count $(((end - start) / 1000000)) $(wc -c <"$dir/out")" | awk '{
    printf "%d checkpoints in %.1f s: %.0f a second; %.1f KB a line\n", $1, $2 / 1000, $1 * 1000 / $2, $3 / $1 / 1000 }'
