#!/bin/sh
# SPDX-License-Identifier: MIT
# Puts the page together: one file that needs nothing else.
#
#   sh src/web/build.sh PROGRAM VERSION LICENSES OUTPUT
#
# PROGRAM is the command as WebAssembly, LICENSES the folder of the licences of what is linked into it. OUTPUT gets the
# page. The policy of the page allows, by their SHA-256 hashes,
# its own style and script and those of HTML reports: a report in a frame has to obey the policy of the page, too.
set -eu
program=$1 version=$2 licenses=$3 output=$4
here=src/web
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

hash() { python3 -c 'import base64, hashlib, sys
print(base64.b64encode(hashlib.sha256(open(sys.argv[1], "rb").read()).digest()).decode())' "$1"; }

# A worker that is made of text obeys the policy of the page as well. Hosts: the hub, and those it redirects to.
scripts="'sha256-$(hash $here/page.js)' 'sha256-$(hash src/report/html/page.js)'"
styles="'sha256-$(hash $here/page.css)' 'sha256-$(hash src/report/html/page.css)'"
hosts="'self' https://huggingface.co https://*.huggingface.co https://*.hf.co"
policy="default-src 'none'; script-src 'wasm-unsafe-eval' $scripts; style-src $styles; worker-src blob:; \
connect-src $hosts; base-uri 'none'; form-action 'none'"

# -n: without the time and the name of the file, so that two builds are equal.
gzip -9 -n <"$program" | base64 | tr -d '\n' >"$work/program"
for file in versions zlib libzip libyaml; do
    [ $file = versions ] || printf '\n---- %s\n\n' $file
    sed 's/&/\&amp;/g; s/</\&lt;/g' "$licenses/$file"
done >"$work/licenses"
mkdir -p "$(dirname "$output")"
awk -v policy="$policy" -v version="$version" -v work="$work" '
    # What a line has in place of @MARK@; what is in a file must not be printed by printf or sub(), where & is special.
    function put_file(name,   text, line) {
        while ((getline line <name) > 0) text = text line "\n"
        close(name)
        return text
    }
    BEGIN {
        value["POLICY"] = policy
        value["VERSION"] = version
        value["STYLE"] = put_file("src/web/page.css")
        value["WORKER"] = put_file("src/web/worker.js")
        value["SCRIPT"] = put_file("src/web/page.js")
        value["PROGRAM"] = put_file(work "/program")
        value["LICENSES"] = put_file(work "/licenses")
    }
    match($0, /@[A-Z]+@/) {
        name = substr($0, RSTART + 1, RLENGTH - 2)
        printf "%s%s", substr($0, 1, RSTART - 1), value[name]
        print substr($0, RSTART + RLENGTH)
        next
    }
    { print }' $here/page.html >"$output"
