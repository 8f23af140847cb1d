#!/bin/sh
# SPDX-License-Identifier: MIT
# `make demo`: four uses of the command on the real checkpoints of fixtures/models, in under 60 lines. Each command is
# printed before it runs and must end with the status that its line below expects.
set -u

shapeproof=${SHAPEPROOF:-build/shapeproof}
passed=0 failed=0

show() { # STATUS WHAT COMMAND
    printf '\n# %s\n$ %s\n' "$2" "$3"
    shapeproof=$shapeproof sh -c "shapeproof() { \"\$shapeproof\" \"\$@\"; }
$3"
    status=$?
    if [ $status = "$1" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "demo: status $status, expected $1" >&2
    fi
}

wrong=$(dirname "$shapeproof")/wrong.json
sed 's/"num_hidden_layers": 2/"num_hidden_layers": 3/' fixtures/models/tiny-llama/config.json >"$wrong"

show 0 'a checkpoint that holds what its config.json promises' \
    'shapeproof check fixtures/models/tiny-llama'
show 1 'the same with "num_hidden_layers": 3: the cause, and what to write' \
    "shapeproof check fixtures/models/tiny-llama --config $wrong"
show 1 'a formula refuted and one proved, for all hyper-parameters' \
    'shapeproof prove --claims docs/examples/gpt2_claims.shapes --all'
show 0 'a lost configuration, inferred from names and shapes' \
    'shapeproof infer fixtures/models/tiny-gpt2/model.safetensors --emit-config'

printf '%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
