#!/bin/sh
# SPDX-License-Identifier: MIT
# The site that `make site` writes: links and anchors lead somewhere, nothing is loaded from elsewhere, each table has a
# formula, and in Chromium the pages are silent and the search finds, also when they are files.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/cli/harness.sh

site=${BUILD:-build}/site
skip() {
    echo "[  SKIPPED ] the site: $1"
    echo '0 passed, 0 failed'
    exit 0
}
[ -f "$site/index.html" ] || skip "there is no $site: make site writes it"
command -v python3 >/dev/null || skip 'there is no python3'
[ -z "$(find docs .github src/site README.md "${SHAPEPROOF:-build/shapeproof}" -newer "$site/index.html" -type f)" ] ||
    skip "$site is older than the command or the pages: make site writes it anew"

shapeproof tables --json | sed -n 's/^    {"name": "\([^"]*\)".*/\1/p' >"$work/tables"
xargs python3 -B tests/site.py "$site" <"$work/tables" >"$work/judged"
grep -v '^[0-9]* passed' "$work/judged"
judged=$(tail -n 1 "$work/judged")
passed=${judged%% passed*} failed=${judged#*, } failed=${failed% failed}
expect 'every table is asked for' [ "$passed" -gt "$(wc -l <"$work/tables")" ]

# The page of `make web` is there, or the site says that it is not.
web=${BUILD:-build}/web/shapeproof.html
if [ ! -f "$web" ]; then
    expect 'the site says that it has no page for browsers' grep -q 'it was not built' "$site/try/index.html"
elif [ -n "$(find "$web" -newer "$site/index.html")" ]; then
    echo "[  SKIPPED ] the page for browsers: $site is older than it"
else expect 'the site has the page for browsers' cmp -s "$web" "$site/try/shapeproof.html"; fi

# ---- in a browser ----

browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || ! command -v "$name" >/dev/null || browser=$name
done
[ -n "$browser" ] || echo '[  SKIPPED ] pages in a browser: there is no chromium'

# show PAGE: the page after its scripts, without a network, into $work/page; its messages into $work/console.
show() {
    sandbox=
    [ "$(id -u)" != 0 ] || sandbox=--no-sandbox
    timeout 120 "$browser" --headless --disable-gpu $sandbox --user-data-dir="$work/profile" --enable-logging=stderr \
        --host-resolver-rules='MAP * ~NOTFOUND' --window-size=1200,900 --virtual-time-budget=8000 \
        --dump-dom "file://$(cd "$site" && pwd)/$1" >"$work/page" 2>"$work/all"
    grep CONSOLE "$work/all" >"$work/console"
    [ -s "$work/page" ] || cat "$work/all"
}
is_silent() { cat "$work/console" && [ -s "$work/page" ] && [ ! -s "$work/console" ]; }

if [ -n "$browser" ]; then
    for page in index.html tutorial.html catalogue/index.html catalogue/text-gpt2.html reports/index.html \
        reports/check.html; do
        show "$page"
        expect "$page: the console is silent" is_silent
    done
    show 'index.html?q=treemap'
    expect 'a search: the console is silent' is_silent
    expect 'a search finds a page' \
        grep -q 'href="[^"]*dependencies[^"]*" class="md-search-result__link"' "$work/page"
fi
conclude
