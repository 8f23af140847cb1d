#!/bin/sh
# SPDX-License-Identifier: MIT
# `make bench`: wall time (median) and peak memory of `shapeproof inspect --json`, and of the Python libraries asked
# for the same names, dtypes and shapes. The whole process is measured, imports included: that is what a script pays.
#
#   SHAPEPROOF_PEER_PYTHON=python3   an interpreter with safetensors, torch and h5py; those it lacks are left out
#   BENCH_RUNS=11                    runs of each command (peers: a third of it)
set -eu

runs=${BENCH_RUNS:-11}
python=${SHAPEPROOF_PEER_PYTHON:-python3}
tools=$OBJ/tests/bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

has() { "$python" tests/bench/peer.py has "$1" 2>/dev/null; }

row() { # WHAT RUNS COMMAND...
    what=$1
    shift
    if measured=$("$tools/measure" "$@"); then
        echo "$measured" | awk -v what="$what" '{ printf "%-52s %10.1f ms %10.1f MB\n", what, $1, $2 / 1024 }'
    else
        printf '%-52s %13s\n' "$what" failed
    fi
}

compare() { # WHAT FILE MODULE
    row "$1: shapeproof" "$runs" "$SHAPEPROOF" inspect --json "$2"
    if has "$3"; then row "$1: $3" $((runs / 3 + 1)) "$python" tests/bench/peer.py list "$2"; fi
}

"$tools/make_safetensors" gpt2 "$dir/gpt2.safetensors"
"$tools/make_safetensors" moe "$dir/moe.safetensors"
compare 'safetensors, GPT-2, 148 tensors' "$dir/gpt2.safetensors" safetensors
compare 'safetensors, mixture of experts, 46,080 tensors' "$dir/moe.safetensors" safetensors
if has torch; then
    "$python" tests/bench/peer.py make "$dir/gpt2.pt"
    compare 'torch zip, GPT-2 names, 148 tensors' "$dir/gpt2.pt" torch
fi
if has h5py; then
    "$python" tests/bench/peer.py make "$dir/gpt2.h5"
    compare 'HDF5, GPT-2 names, 148 datasets' "$dir/gpt2.h5" h5py
fi
