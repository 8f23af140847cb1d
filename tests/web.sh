#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of `make web` in Chromium: files of 5 GB, folders, a local server that answers as the hub does, forms, links,
# hostile names. Skipped without the page (make web), python3 or chromium.
set -u
cd "$(dirname "$0")/.." || exit 1
page=${BUILD:-build}/web/shapeproof.html
command=${SHAPEPROOF:-build/shapeproof}

skip() {
    echo "[  SKIPPED ] the page in a browser: there is no $1"
    exit 0
}

[ -e "$page" ] || skip "$page: 'make web' builds it"
[ -n "$(find "$page" -newer "$command" 2>/dev/null)" ] ||
    skip 'page that is newer than the command: '"'make web'"' builds it'
command -v python3 >/dev/null || skip python3
browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || ! command -v "$name" >/dev/null || browser=$name
done
[ -n "$browser" ] || skip chromium
[ -x "$command" ] || { echo "no command at $command: run make"; exit 1; }
command=$(cd "$(dirname "$command")" && pwd)/$(basename "$command")
exec python3 -B tests/web/test_page.py "$page" "$command" "$browser"
