#!/bin/sh
# SPDX-License-Identifier: MIT
# Each link of a page to a page, or to a heading of one, leads somewhere: `[text](formats.md#the-tar-archive)`. The
# anchor of a heading is made as the generator of the site makes it: in lower case, without punctuation, with a hyphen
# for each blank, and "_1" at the end of the second one of a page. Links out of docs are looked up as files.
#
#   sh tests/lint/links.sh [ROOT]
set -eu
cd "${1:-.}"

# shellcheck disable=SC2046 # documents have no blanks in their names
set -- $(find README.md docs .github -name '*.md' 2>/dev/null | sort)
awk '
    function folder(path) { sub(/[^\/]*$/, "", path); return path }
    # docs/../README.md is README.md
    function plain(path) {
        while (match(path, /[^\/]+\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
        return path
    }
    function slug(heading) {
        gsub(/\[|\]\([^)]*\)/, "", heading)
        heading = tolower(heading)
        gsub(/[^a-z0-9_ -]/, "", heading)
        gsub(/^ +| +$/, "", heading)
        gsub(/ /, "-", heading)
        return heading
    }
    # What is in backticks is no link. No link is broken by the end of a line behind its "](".
    function note_links(text, line, link) {
        gsub(/`[^`]*`/, "", text)
        while (match(text, /\]\([^() ]+\)/)) {
            link = substr(text, RSTART + 2, RLENGTH - 3)
            text = substr(text, RSTART + RLENGTH)
            if (link !~ /^[a-z]+:/) { from[++links] = FILENAME; at[links] = line; to[links] = link }
        }
    }
    FNR == 1 { fenced = 0; pages[FILENAME] = 1 }
    /^[ \t]*```/ { fenced = !fenced; next }
    fenced { next }
    /^#+ / {
        heading = $0
        sub(/^#+ /, "", heading)
        anchor = slug(heading)
        number = seen[FILENAME, anchor]++
        anchors[FILENAME "#" anchor (number ? "_" number : "")] = 1
    }
    { note_links($0, FNR) }
    END {
        for (i = 1; i <= links; i++) {
            path = anchor = to[i]
            sub(/#.*/, "", path)
            if (!sub(/^[^#]*#/, "", anchor)) anchor = ""
            page = path == "" ? from[i] : plain(folder(from[i]) path)
            if (page in pages ? anchor != "" && !(page "#" anchor in anchors) : system("test -e \"" page "\""))
                { print from[i] ":" at[i] ": no such page or heading: " to[i]; failed = 1 }
        }
        exit failed
    }' "$@"
