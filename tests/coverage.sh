#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints by module how many lines of the sources the tests have run, from what a build with --coverage left:
#
#   sh tests/coverage.sh FOLDER              the table: module, lines, lines run, per cent; status 1 if the tests run
#                                            less than 95 % of src/read or of src/lang
#   sh tests/coverage.sh FOLDER --lines      each line of src/read and src/lang that never ran
#   sh tests/coverage.sh FOLDER --refusals   those of them that refuse an input
set -eu

folder=$1
data=$(find "$folder/src" "$folder/tests" -name '*.gcda' | sort)
[ -n "$data" ] || { echo "coverage: no test has run in $folder" >&2; exit 1; }

# "FILE:LINE:RUN:TEXT" of each line with code, RUN being 0 or 1. A test that includes a source has its own copy of it: a
# line has run when one of its copies has. Headers are counted where they are included: left out.
lines() {
    # shellcheck disable=SC2086 # paths without blanks
    gcov -t $data 2>/dev/null | awk -F: '
        $3 == "Source" { file = $4; wanted = file ~ /^src\/.*\.c$/; next }
        !wanted || $2 + 0 == 0 { next }
        { count = $1; gsub(/[ *]/, "", count) }
        count == "-" { next }
        { key = file ":" $2 + 0; run[key] = run[key] || count !~ /^[#=]/; text = $0; sub(/^[^:]*:[^:]*: */, "", text)
          texts[key] = text }
        END { for (key in run) print key ":" run[key] ":" texts[key] }'
}

case ${2:-} in
--lines | --refusals)
    pattern=.
    [ "$2" = --lines ] || pattern='sp_malformed|sp_fail|MISTAKE|fail_scan|refuse|wrong_'
    lines | grep -E '^src/(read|lang)/[^:]*:[0-9]*:0:' | grep -E "$pattern" | sort -t: -k1,1 -k2,2n | sed 's/:0:/: /'
    exit ;;
esac
# A module is a folder of src; in src/read each format is one.
lines | awk -F: '
    {
        depth = split($1, path, "/")
        module = path[2] (path[2] == "read" && depth > 3 ? "/" path[3] : "")
        lines[module]++
        run[module] += $3
        if (path[2] == "read") {
            lines["read, in all"]++
            run["read, in all"] += $3
        }
    }
    function share(module) { return 100 * run[module] / lines[module] }
    END {
        for (module in lines)
            printf "%-16s %7d %7d %6.1f %%\n", module, lines[module], run[module], share(module) | "sort"
        close("sort")
        # What is not covered in these two reads input that comes from anyone.
        for (module in lines)
            if ((module == "read, in all" || module == "lang") && share(module) < 95) {
                printf "coverage: %s: %.1f %%, expected at least 95 %%\n", module, share(module) | "cat >&2"
                failed = 1
            }
        exit failed
    }'
