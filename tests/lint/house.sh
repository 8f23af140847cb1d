#!/bin/sh
# SPDX-License-Identifier: MIT
# What keeps the house easy to find one's way in: no folder of sources has more than 30 files or 6,000 lines, and fewer
# than 3 in 100 functions share their name with one in another file.
#
#   sh tests/lint/house.sh [ROOT]
set -eu
cd "${1:-.}"

find src -name '*.[ch]' | sort | xargs awk '
FNR == 1 {
    folder = FILENAME
    sub(/\/[^\/]*$/, "", folder)
    files[folder]++
}
{ lines[folder]++ }
/^[a-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
(/^\{/ || /^[a-z][^=]*\(.*\) \{/) && name {
    functions++
    if (!((name, FILENAME) in seen)) places[name]++
    seen[name, FILENAME]
    name = ""
}
END {
    for (folder in files)
        if (files[folder] > 30 || lines[folder] > 6000) {
            print folder ": " files[folder] " files, " lines[folder] " lines: too many for one room"
            bad++
        }
    for (name in places) if (places[name] > 1) { shared += places[name]; list = list " " name }
    if (!NR) { print "no sources"; bad++ }
    if (shared && shared * 100 >= functions * 3) {
        print shared " of " functions " functions share their name:" list
        bad++
    }
    exit bad > 0
}' || exit 1
