#!/bin/sh
# SPDX-License-Identifier: MIT
# `make demo`: reads and checks the small real checkpoints of fixtures/models, showing each command before it runs.
set -u

shapeproof=${SHAPEPROOF:-build/shapeproof}
passed=0 failed=0

show() {
    printf '\n$ shapeproof %s\n' "$*"
    if "$shapeproof" "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

for model in fixtures/models/*/; do
    [ -d "$model" ] || { echo "demo: no checkpoints in fixtures/models" >&2; exit 1; }
    show inspect "${model%/}"
    show check "${model%/}"
done
printf '\n%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
