#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every fuzz target over every fixture, and over damaged copies of it (tests/fuzz/replay.c). One process for each
# target: with the sanitizers to start one takes longer than to read a fixture.
set -u

passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
files=$(find fixtures -type f -size -1024k ! -name '*.py' ! -name '*.md' 2>/dev/null | sort)
[ -n "$files" ] || echo "[  SKIPPED ] no fixtures"
for source in tests/fuzz/fuzz_*.c; do
    [ -n "$files" ] || break
    target=${OBJ:-build/release}/tests/fuzz/$(basename "$source" .c)
    # shellcheck disable=SC2086 # names without blanks
    if timeout 900 "$target" $files >"$log"; then passed=$((passed + $(wc -l <"$log"))); else
        passed=$((passed + $(wc -l <"$log") - 1)) failed=$((failed + 1))
        echo "FAILED  $target $(tail -n 1 "$log"), and what follows was not run"
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
