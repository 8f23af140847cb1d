#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every fuzz target over every fixture, and over damaged copies of it (tests/fuzz/replay.c).
set -u

passed=0 failed=0
for source in tests/fuzz/fuzz_*.c; do
    target=${OBJ:-build/release}/tests/fuzz/$(basename "$source" .c)
    for file in $(find fixtures -type f -size -1024k ! -name '*.py' ! -name '*.md' 2>/dev/null | sort); do
        if timeout 60 "$target" "$file"; then passed=$((passed + 1)); else
            failed=$((failed + 1))
            echo "FAILED  $target $file"
        fi
    done
done
[ $((passed + failed)) != 0 ] || echo "[  SKIPPED ] no fixtures"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
