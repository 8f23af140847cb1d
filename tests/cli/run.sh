#!/bin/sh
# SPDX-License-Identifier: MIT
# Golden tests of the command.
#
#   sh tests/cli/run.sh [--record] [FILE.test]...    default: every tests/cli/*.test
#
# A .test file is a sequence of cases. Other lines than these (comments, empty lines) separate them:
#
#   $ shapeproof inspect model.safetensors     a line for sh, run from the root of the project
#   > what it writes to stdout                 (a line of stdout that is empty is a bare ">")
#   ! what it writes to stderr
#   = 0                                        its exit status
#
# A line "needs sandbox", "needs browser" or "needs memory-limit" above a case is for a command that was built without
# it, or cannot run under `ulimit -v`: it skips the case. "needs speed" skips one under AddressSanitizer that takes a
# second without it, mostly for algebra, of whose thousands of allocations each takes a hundred times as long there.
# --record runs the cases and writes what they really do into the files: read the diff before you commit it. It needs a
# command that has everything.
# From the environment: SHAPEPROOF, the command under test (default build/shapeproof); OBJ, where it was built. Under
# AddressSanitizer the command takes ten times as long. There, every fourth of the cases that stand alone is run: those
# that are one call of the command, without a variable of the shell such as $tmp and without a file to write. Where all
# of them have passed on another machine (SHAPEPROOF_SAMPLE, tests/sample.h), every second one is.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness.sh

record=false
[ "${1:-}" = --record ] && { record=true; shift; }
[ $# -gt 0 ] || set -- tests/cli/*.test

# Prints what a case really does, in the form of the file.
actual() {
    run_case "$1"
    printf '$ %s\n' "$1"
    sed 's/^/> /; s/^> $/>/' "$work/stdout"
    sed 's/^/! /; s/^! $/!/' "$work/stderr"
    printf '= %s\n' "$status"
}

# Splits a file into its cases, and prints how many there are: command.N, expected.N and, if the case needs a feature,
# needs.N with its name.
split_cases() {
    rm -f "$work"/expected.* "$work"/command.* "$work"/needs.*
    awk -v work="$work" '
        function finish() { if (n && open) { close(work "/expected." n); open = 0 } }
        /^\$ / { finish(); n++; open = 1; print substr($0, 3) > (work "/command." n); close(work "/command." n) }
        open && /^(\$ |[>!=]( |$))/ { print > (work "/expected." n); next }
        { finish() }
        /^needs / { print $2 > (work "/needs." (n + 1)); close(work "/needs." (n + 1)) }
        END { finish(); print n + 0 }' "$1"
}

case ${OBJ:-} in *asan) step=4 ;; *) step=$((${SHAPEPROOF_SAMPLE:-1} > 1 ? 2 : 1)) ;; esac

# Whether the case is left out because it stands alone, and is not one in `step`.
is_left_out() { # CASE
    [ $(($1 % step)) != 0 ] && grep -q '^shapeproof [^$>]*$' "$work/command.$1"
}

check_file() {
    cases=$(split_cases "$1")
    n=0
    while [ $n -lt "$cases" ]; do
        n=$((n + 1))
        is_left_out $n && continue
        if [ -e "$work/needs.$n" ] && lacks "$(cat "$work/needs.$n")"; then
            echo "[  SKIPPED ] $1, case $n: this command has no $(cat "$work/needs.$n")"
            continue
        fi
        actual "$(cat "$work/command.$n")" >"$work/actual"
        judge "$1, case $n" "$work/expected.$n" "$work/actual"
    done
}

# Every "$" line is run, what is recorded below it dropped, everything else kept.
record_file() {
    while IFS= read -r line; do
        case $line in
        '$ '*) actual "${line#??}" ;;
        '>' | '> '* | '!' | '! '* | '= '*) ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$1" >"$work/recorded"
    cat "$work/recorded" >"$1"
}

if $record && [ -n "$lacking" ]; then
    echo "--record needs a command that has everything; this one has no$lacking" >&2
    exit 1
fi
for file in "$@"; do
    # each file has a folder of its own, since a configuration in one would be found by the cases of all
    tmp=$work/tmp/$(basename "$file" .test)
    mkdir "$tmp"
    if $record; then record_file "$file"; else check_file "$file"; fi
done
$record || conclude
