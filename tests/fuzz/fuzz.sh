#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzzes each target, or those that are named, for TIME seconds (60), starting from the seeds of tests/fuzz/seeds.sh.
# What it finds stays in $OBJ/corpus/TARGET; an input that breaks something is left there as crash-*, to become a
# fixture. HDF5 has 5 seconds of its own for a file, hence the 30. Longer inputs than the MAX_SIZE of the target, or
# than 16 KiB where it has none, are cut: they take most of the time, and what they have besides is more of the same.
# Seeds are chosen without weights by rare features (-entropic=0): to keep these weights takes a third to two thirds
# of the time. New functions are not named in the log (-print_funcs=0), since that takes seconds of each run. The last
# lines are a table of executions and findings.
#
#   fuzz.sh [TARGET...]
set -u

# An allocation remembers two callers: with all of them a third of the time goes there. Replay a finding for more.
export ASAN_OPTIONS="${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=32}"
# shellcheck disable=SC2046 # names without blanks
[ $# -gt 0 ] || set -- $(find tests/fuzz -name 'fuzz_*.c' -exec basename {} .c \; | sort)
rows='' failed=0
for name in "$@"; do
    corpus=$OBJ/corpus/$name
    mkdir -p "$corpus" "$OBJ/seeds/$name"
    most=$(sed -n 's/.*\<MAX_SIZE = \([0-9]*\).*/\1/p' "tests/fuzz/$name.c")
    executions=0 speed=0 found=0
    if folders=$(sh tests/fuzz/seeds.sh "$name" "$OBJ/seeds/$name"); then
        # shellcheck disable=SC2086 # fixture folders have no spaces
        "$OBJ/tests/fuzz/$name" -max_total_time="${TIME:-60}" -timeout=30 -rss_limit_mb=1024 -max_len="${most:-16384}" \
            -entropic=0 -print_funcs=0 -print_final_stats=1 -artifact_prefix="$corpus/" \
            "$corpus" "$OBJ/seeds/$name" $folders >"$corpus.log" 2>&1
        status=$?
        grep -aE 'ERROR|SUMMARY|amplification|Test unit written' "$corpus.log"
        executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log")
        speed=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$corpus.log")
        found=$(grep -ac 'Test unit written' "$corpus.log")
        if [ $status != 0 ] || [ "${executions:-0}" = 0 ]; then
            failed=$((failed + 1))
            [ "$found" != 0 ] || { echo "$name: status $status, ${executions:-0} executions"; tail -n 2 "$corpus.log"; }
        fi
    else
        failed=$((failed + 1))
        echo "$name: no seeds"
    fi
    rows="$rows$name ${executions:-0} ${speed:-0} $found
"
done
printf '%-20s %12s %8s %8s\n' target executions 'a second' findings
printf '%s' "$rows" | while read -r name executions speed found; do
    printf '%-20s %12s %8s %8s\n' "$name" "$executions" "$speed" "$found"
done
[ $failed = 0 ]
