#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every fuzz target over its seeds (tests/fuzz/seeds.sh), which are all fixtures for most of them, and over damaged
# copies of them (tests/fuzz/replay.c). One process for each target: with the sanitizers to start one takes longer than
# to read a fixture. SHAPEPROOF_SAMPLE=N takes one in N seeds of each target.
set -u

passed=0 failed=0
log=$(mktemp) seeds=$(mktemp -d)
trap 'rm -rf "$log" "$seeds"' EXIT
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    folders=$(sh tests/fuzz/seeds.sh "$name" "$seeds/$name") ||
        { failed=$((failed + 1)); echo "FAILED  $name: seeds.sh"; continue; }
    # shellcheck disable=SC2086 # names without blanks
    files=$(find "$seeds/$name" $folders -maxdepth 1 -type f -size -1024k ! -name '*.py' ! -name '*.md' | sort |
        awk -v step="${SHAPEPROOF_SAMPLE:-1}" '(NR - 1) % step == 0')
    [ -n "$files" ] || { failed=$((failed + 1)); echo "FAILED  $name: no seeds"; continue; }
    # shellcheck disable=SC2086
    if timeout 900 "${OBJ:-build/release}/tests/fuzz/$name" $files >"$log"; then
        passed=$((passed + $(wc -l <"$log")))
    else
        passed=$((passed + $(wc -l <"$log") - 1)) failed=$((failed + 1))
        echo "FAILED  $name $(tail -n 1 "$log"), and what follows was not run"
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
