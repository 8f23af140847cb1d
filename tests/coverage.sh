#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints by module how many lines of the sources the tests have run, from what a build with --coverage left:
#
#   sh tests/coverage.sh FOLDER              the table: module, lines, lines run, per cent
#   sh tests/coverage.sh FOLDER --refusals   the places that refuse an input, in src/read and src/lang, and never ran
set -eu

folder=$1
data=$(find "$folder/src" -name '*.gcda' | sort)
[ -n "$data" ] || { echo "coverage: no test has run in $folder" >&2; exit 1; }
if [ "${2:-}" = --refusals ]; then
    # shellcheck disable=SC2086 # paths without blanks
    gcov -t $data 2>/dev/null | awk -F: '
        $3 == "Source" { file = $4 }
        file ~ /^src\/(read|lang)\// && $1 ~ /#####/ &&
        /sp_malformed|sp_fail|MISTAKE|fail_scan|refuse|wrong_/ { line = $2; text = $0
            sub(/^[^:]*:[^:]*: */, "", text); sub(/^ */, "", line); print file ":" line ": " text }'
    exit
fi
# A module is a folder of src; in src/read each format is one. Headers are counted where they are included: left out.
# shellcheck disable=SC2086
gcov -n $data 2>/dev/null | awk '
    /^File / { file = $2; gsub(/\047/, "", file) }
    /^Lines executed:/ && file ~ /^src\/.*\.c$/ {
        split($0, part, /[:%]| of /)
        depth = split(file, path, "/")
        module = path[2] (path[2] == "read" && depth > 3 ? "/" path[3] : "")
        lines[module] += $NF
        run[module] += part[2] / 100 * $NF
        file = ""
    }
    END {
        for (module in lines)
            printf "%-16s %7d %7d %6.1f %%\n", module, lines[module], run[module] + .5,
                100 * run[module] / lines[module]
    }' | sort
