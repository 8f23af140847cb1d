#!/bin/sh
# SPDX-License-Identifier: MIT
# `make bench`: wall time and user time (medians) and peak memory of commands; beside `inspect --json`, of the Python
# libraries asked for the same names, dtypes and shapes. The whole process is measured, imports included: that is what a
# script pays.
#
#   SHAPEPROOF_PEER_PYTHON=python3   an interpreter with safetensors, torch and h5py; those it lacks are left out
#   BENCH_RUNS=11                    runs of each command (peers: a third of it)
#   BENCH_FLEET=10000                checkpoints of a list
#   BENCH_DATA=1024                  mebibytes of each file whose data are compared
set -eu

runs=${BENCH_RUNS:-11}
data_mib=${BENCH_DATA:-1024}
python=${SHAPEPROOF_PEER_PYTHON:-python3}
tools=$OBJ/tests/bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

has() { "$python" tests/bench/peer.py has "$1" 2>/dev/null; }

row() { # FILE READER RUNS COMMAND...
    file=$1 reader=$2
    shift 2
    measured=$("$tools/measure" "$@") || measured='- - -'
    echo "$measured" | awk -v file="$file" -v reader="$reader" '
        { printf "%-38s %-12s %8s %8s %8s\n", file, reader, $1, $2, $3 == "-" ? "-" : sprintf("%.1f", $3 / 1024) }'
}

compare() { # WHAT FILE PEER
    row "$1" shapeproof "$runs" "$SHAPEPROOF" inspect --json "$2"
    if has "$3"; then row "" "$3" $((runs / 3 + 1)) "$python" tests/bench/peer.py list "$2"; fi
}

printf '%-38s %-12s %8s %8s %8s\n' file 'read by' ms 'user ms' MB
"$tools/make_safetensors" gpt2 "$dir/gpt2.safetensors"
"$tools/make_safetensors" moe "$dir/moe.safetensors"
compare 'safetensors, GPT-2, 148 tensors' "$dir/gpt2.safetensors" safetensors
compare 'safetensors, experts, 46,080 tensors' "$dir/moe.safetensors" safetensors
# A header of 96 MB, in less than twice its memory.
"$tools/make_safetensors" million "$dir/million.safetensors"
row 'safetensors, 1,085,000 tensors, JSON' shapeproof "$runs" "$SHAPEPROOF" inspect --json "$dir/million.safetensors"
row 'safetensors, 1,085,000 tensors, text' shapeproof "$runs" "$SHAPEPROOF" inspect "$dir/million.safetensors"
if has torch; then
    "$python" tests/bench/peer.py make "$dir/gpt2.pt"
    compare 'torch zip, GPT-2, 148 tensors' "$dir/gpt2.pt" torch
fi
if has h5py; then
    "$python" tests/bench/peer.py make "$dir/gpt2.h5"
    compare 'HDF5, GPT-2, 148 datasets' "$dir/gpt2.h5" h5py
fi

# Distributed checkpoints: 1,000 files, and as many chunks or many more.
"$tools/make_dcp" "$dir/dcp" 1000 1000 1
"$tools/make_dcp" "$dir/fsdp" 1000 300 1000
row 'distributed, 1,000 files' shapeproof "$runs" "$SHAPEPROOF" inspect --json "$dir/dcp"
row 'distributed, 300,000 chunks' shapeproof "$runs" "$SHAPEPROOF" inspect --json "$dir/fsdp"

# A check that has to explain 10,783 findings.
mkdir "$dir/lossy"
"$tools/make_safetensors" lossy "$dir/lossy/model.safetensors"
cat >"$dir/lossy/config.json" <<END
{"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "vocab_size": 151936, "hidden_size": 2048,
 "num_hidden_layers": 60, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "num_experts": 512,
 "moe_intermediate_size": 768, "intermediate_size": 6144, "mlp_only_layers": [], "decoder_sparse_step": 1}
END
row 'check, experts, 92,703 tensors' shapeproof "$runs" sh -c "'$SHAPEPROOF' check '$dir/lossy'; test \$? = 1"

# `diff --data`, each beside `cmp`, which compares as many bytes of the larger file. All from the cache of the system:
# that is where a program can be slow.
if [ "$(df -Pk "$dir" | awk 'NR == 2 { print int($4 / 1024) }')" -gt $((data_mib * 8)) ]; then
    for kind in same widened rounded transposed rotary; do
        "$tools/make_pair" "$kind" "$data_mib" "$dir/a.safetensors" "$dir/b"
        larger=$(find "$dir/a.safetensors" "$dir/b" -prune -exec ls -S {} + | head -n 1)
        cp "$larger" "$dir/copy"
        row "cmp, $data_mib MiB" cmp "$runs" cmp "$larger" "$dir/copy"
        row "diff --data, $kind" shapeproof "$runs" \
            sh -c "'$SHAPEPROOF' diff --data '$dir/a.safetensors' '$dir/b'; test \$? -le 1"
        rm -f "$dir/a.safetensors" "$dir/b" "$dir/copy"
    done
else
    echo "no space for pairs of $data_mib MiB in $dir"
fi

# What is not asked for costs nothing: the same with 1,000 tables more.
OBJ=$OBJ sh tests/bench/thousand.sh "$dir/thousand"
row 'predict gpt2' shapeproof "$runs" "$SHAPEPROOF" predict gpt2
row 'predict gpt2, 1,000 tables more' shapeproof "$runs" "$dir/thousand/shapeproof" predict gpt2
row 'version, 1,000 tables more' shapeproof "$runs" "$dir/thousand/shapeproof" --version

# All built-in claims, and all figures of the book about published models.
row 'prove, all claims and figures' shapeproof "$runs" "$SHAPEPROOF" prove

# Many at once, on all processors.
SHAPEPROOF=$SHAPEPROOF sh tests/bench/fleet.sh "${BENCH_FLEET:-10000}"

# The Python package beside the command.
if python3 -c 'import ctypes, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    SHAPEPROOF_LIBRARY=$PWD/${OBJ#"$PWD"/}/libshapeproof.so.0 PYTHONPATH=$PWD/src/python \
        PYTHONPYCACHEPREFIX=$PWD/${OBJ#"$PWD"/}/pycache \
        python3 tests/bench/package.py "$SHAPEPROOF" fixtures/models/tiny-gpt2 "$runs"
fi
