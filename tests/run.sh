#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests and ends with one line, "N passed, M failed". Called by `make test`, `make asan` and `make unit`.
#
#   sh tests/run.sh [--unit] PROGRAM...      the unit tests, then (without --unit) the test scripts
#
# From the environment: OBJ (where the logs go), SHAPEPROOF (the command under test), CC.
# A unit test is a cmocka program; a script says "N passed, M failed" on its last line, or counts as one test.
set -u

unit_only=false
[ "${1:-}" = --unit ] && { unit_only=true; shift; }
logs=$OBJ/logs
mkdir -p "$logs"
passed=0 failed=0

# count NAME PASSED FAILED LOG: adds to the totals; shows the log when something failed.
count() {
    passed=$((passed + $2)) failed=$((failed + $3))
    [ "$2$3" = 00 ] && { printf 'skipped %s\n' "$1"; return; }
    [ "$3" = 0 ] && { printf 'ok      %-40s %s passed\n' "$1" "$2"; return; }
    cat "$4"
    printf 'FAILED  %-40s %s passed, %s failed\n' "$1" "$2" "$3"
}

# "P F" out of a log: cmocka's "[  PASSED  ] 3 test(s)", or a closing line "N passed, M failed".
cmocka_counts() {
    awk '/^\[  PASSED  \] / { p += $4 }
         /^\[  FAILED  \] [0-9]+ test/ { f += $4 }
         END { print p + 0, f + 0 }' "$1"
}
script_counts() { tail -n 1 "$1" | awk '/^[0-9]+ passed, [0-9]+ failed$/ { print $1, $3 }'; }

# A program that crashes, or runs no test at all, is one failure more than it says.
settle() { # NAME STATUS LOG COUNTS
    # shellcheck disable=SC2086 # "P F" is two words
    set -- "$1" "$2" "$3" $4
    if [ "$2" != 0 ] && [ "$5" = 0 ]; then
        echo "exit status $2" >>"$3"
        set -- "$1" "$2" "$3" "$4" 1
    elif [ "$2" = 0 ] && [ "$4" = 0 ] && ! grep -q '^\[  SKIPPED \]' "$3"; then
        echo "no test ran" >>"$3"
        set -- "$1" "$2" "$3" 0 1
    fi
    count "$1" "$4" "$5" "$3"
}

run_unit() {
    name=${1#"$OBJ"/}
    log=$logs/$(echo "$name" | tr / -).log
    "$1" >"$log" 2>&1 </dev/null
    settle "$name" $? "$log" "$(cmocka_counts "$log")"
}

run_script() {
    [ -f "$1" ] || return 0
    log=$logs/$(echo "$1" | tr / -).log
    sh "$@" >"$log" 2>&1 </dev/null
    status=$?
    counts=$(script_counts "$log")
    [ -n "$counts" ] || { [ $status = 0 ] && counts="1 0" || counts="0 1"; }
    settle "$1" $status "$log" "$counts"
}

for program in "$@"; do run_unit "$program"; done
if ! $unit_only; then
    run_script tests/lint/selftest.sh
    run_script tests/lint/layers.sh
    run_script tests/headers.sh
    run_script tests/cli/run.sh
    run_script tests/docs.sh
    run_script tests/fuzz/replay.sh
    run_script tests/corpus.sh
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
