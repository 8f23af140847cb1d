#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests, one more at once than there are processors, for some of them wait for a clock; and ends with one line,
# "N passed, M failed". Called by `make test`, `make asan` and `make unit`.
#
#   sh tests/run.sh [--unit] PROGRAM...      the test scripts (without --unit), and the unit tests
#   sh tests/run.sh --one TEST               one of them
#
# From the environment: OBJ (where the logs go), SHAPEPROOF (the command under test), CC.
# A unit test is a cmocka program; a script says "N passed, M failed" on its last line, or counts as one test.
set -u

logs=$OBJ/logs
scripts='tests/lint/selftest.sh tests/lint/layers.sh tests/refusals.sh tests/headers.sh tests/cli/run.sh tests/docs.sh
         tests/fuzz/selftest.sh tests/fuzz/replay.sh tests/corpus.sh tests/scenarios.sh tests/fleets.sh
         tests/completion.sh tests/python.sh tests/schema.sh tests/html.sh tests/redact.sh
         tests/hardening.sh tests/web.sh tests/site.sh'
# What takes longest, and is begun first, so that no processor waits for the last one.
longest='tests/cli/run.sh tests/infer/test_own tests/check/test_mutations tests/learn/test_saved tests/fuzz/replay.sh
         tests/schema.sh
         tests/infer/test_corpus tests/check/test_random tests/prove/test_derive tests/prove/test_count
         tests/learn/test_corpus tests/terminal/test_progress'

# "P F" out of a log: cmocka's "[  PASSED  ] 3 test(s)", or a closing line "N passed, M failed".
cmocka_counts() {
    awk '/^\[  PASSED  \] / { p += $4 }
         /^\[  FAILED  \] [0-9]+ test/ { f += $4 }
         END { print p + 0, f + 0 }' "$1"
}
script_counts() { tail -n 1 "$1" | awk '/^[0-9]+ passed, [0-9]+ failed$/ { print $1, $3 }'; }

# A program that crashes, or runs no test at all, is one failure more than it says.
settle() { # STATUS PASSED FAILED LOG: "P F"
    if [ "$1" != 0 ] && [ "$3" = 0 ]; then
        echo "exit status $1" >>"$4"
        echo "$2 1"
    elif [ "$1" = 0 ] && [ "$2" = 0 ] && ! grep -q '^\[  SKIPPED \]' "$4"; then
        echo "no test ran" >>"$4"
        echo "0 1"
    else
        echo "$2 $3"
    fi
}

# show NAME SECONDS PASSED FAILED LOG: one line, after the log when something failed.
show() {
    if [ "$3$4" = 00 ]; then
        printf 'skipped %s\n' "$1"
    elif [ "$4" = 0 ]; then
        printf 'ok      %-40s %s passed (%s s)\n' "$1" "$3" "$2"
    else
        cat "$5"
        printf 'FAILED  %-40s %s passed, %s failed (%s s)\n' "$1" "$3" "$4" "$2"
    fi
}

# The tests in that order, one a line.
longest_first() { # TEST...
    printf '%s\n' "$@" | awk -v longest="$longest" -v obj="$OBJ/" '
        BEGIN { count = split(longest, names) }
        { name = index($0, obj) == 1 ? substr($0, length(obj) + 1) : $0; tests[NR] = $0; at[name] = NR }
        END {
            for (i = 1; i <= count; i++) if (names[i] in at) { print tests[at[names[i]]]; delete tests[at[names[i]]] }
            for (i = 1; i <= NR; i++) if (i in tests) print tests[i]
        }'
}

run_one() {
    name=${1#"$OBJ"/}
    log=$logs/$(echo "$name" | tr / -).log
    start=$(date +%s)
    case $1 in
    *.sh) sh "$1" >"$log" 2>&1 </dev/null ;;
    *) "$1" >"$log" 2>&1 </dev/null ;;
    esac
    status=$?
    case $1 in
    *.sh) counts=$(script_counts "$log")
          [ -n "$counts" ] || { [ $status = 0 ] && counts="1 0" || counts="0 1"; } ;;
    *) counts=$(cmocka_counts "$log") ;;
    esac
    # shellcheck disable=SC2086 # "P F" is two words
    counts=$(settle $status $counts "$log")
    echo "$counts" >"${log%.log}.count"
    # shellcheck disable=SC2086
    text=$(show "$name" $(($(date +%s) - start)) $counts "$log")
    # What it left out, also where it did the rest: a script says why, cmocka gives the name of the test, several times.
    text=$text$(sed -n '/^\[  SKIPPED \] [0-9]* test/!s/^\[  SKIPPED \] /        skipped: /p' "$log" |
        awk '!said[$0]++' | sed '1s/^/\n/')
    printf '%s\n' "$text" # at once, so that what runs beside it does not come between
}

if [ "${1:-}" = --one ]; then
    run_one "$2"
    exit 0
fi

mkdir -p "$logs"
rm -f "$logs"/*.count
[ "${1:-}" = --unit ] && { scripts=; shift; }
# shellcheck disable=SC2086 # a list of scripts
longest_first $scripts "$@" | xargs -n 1 -P $(($(nproc) + 1)) sh "$0" --one

# What failed is said once more at the end, where who sees only the last lines of a long log finds it.
for count in "$logs"/*.count; do
    read -r _ failed <"$count"
    [ "$failed" != 0 ] || continue
    printf -- '---- failed: %s\n' "$(basename "$count" .count)"
    tail -n 15 "${count%.count}.log"
done

# A test without a count did not end.
# shellcheck disable=SC2086
set -- $scripts "$@"
cat "$logs"/*.count | awk -v wanted=$# '{ passed += $1; failed += $2 }
    END { failed += wanted - NR
          print passed + 0 " passed, " failed + 0 " failed"
          exit failed > 0 || passed == 0 }'
