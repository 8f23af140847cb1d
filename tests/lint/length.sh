#!/bin/sh
# SPDX-License-Identifier: MIT
# Information, never a failure: functions over LIMIT (60) lines, longest first, and the median and 90th percentile.
set -eu
find src -name '*.c' | sort | xargs awk '
/^[a-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
/^\{/ { start = FNR }
/^\}/ && start { print FNR - start + 1, FILENAME ":" start, name; start = 0 }' | sort -rn |
    awk -v limit="${LIMIT:-60}" '
{ lines[NR] = $1 }
$1 > limit { print "long: " $1 " lines: " $3 " (" $2 ")" }
END {
    if (!NR) exit
    median = lines[int(NR / 2) + 1]
    most = lines[int(NR / 10) + 1]
    printf "%d functions: median %d, 90th percentile %d, longest %d lines\n", NR, median, most, lines[1]
}'
