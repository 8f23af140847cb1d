#!/bin/sh
# SPDX-License-Identifier: MIT
# HTML reports in a browser: no messages on its console, names are text whatever is in them, the search finds, and no
# foreign script runs. Without a browser (chromium) the sizes alone are checked.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/cli/harness.sh

# smaller FILE BYTES
smaller() { [ "$(wc -c <"$1")" -lt "$2" ] || { wc -c "$1"; return 1; }; }

# ---- pages ----

# What would end an element, begin a comment or a script, or turn the text around, in names of tensors.
hostile='{"<script>alert(1)</script>.w": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
"</script><img src=x onerror=alert(2)>": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]},
"<!--<script>\u2028\u202e\u0007": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]},
"\"><svg onload=alert(3)>&lt;'"'"'": {"dtype": "U8", "shape": [1], "data_offsets": [3, 4]},
"__proto__.constructor.3": {"dtype": "U8", "shape": [1], "data_offsets": [4, 5]}}'
make_safetensors "$hostile" 5 >"$work/hostile.safetensors"
${CC:-cc} -O1 -o "$work/make" tests/bench/make_safetensors.c && "$work/make" moe "$work/moe.safetensors" &&
    "$work/make" unlike "$work/unlike.safetensors" || exit 1

shapeproof inspect "$work/hostile.safetensors" --format html -o "$work/hostile.html"
shapeproof inspect "$work/moe.safetensors" --format html -o "$work/moe.html"
"$work/make" gpt2 "$work/gpt2.safetensors"
shapeproof inspect fixtures/models/tiny-gpt2 --format html -o "$work/small.html"
shapeproof inspect "$work/gpt2.safetensors" --format html -o "$work/gpt2.html"
shapeproof inspect "$work/unlike.safetensors" --format html -o "$work/unlike.html"
shapeproof diff "$work/moe.safetensors" "$work/hostile.safetensors" --format html -o "$work/diff.html"
shapeproof check fixtures/models/odd-gpt2 --format html -o "$work/check.html"
shapeproof prove --checkpoint fixtures/models/odd-gpt2 --claim 'total = V*d' --format html -o "$work/prove.html"

# 100 models, one of them with a hostile path, and pages that one page has no room for.
mkdir "$work/models"
for i in $(seq 10 99); do ln -s "$PWD/fixtures/models/tiny-gpt2" "$work/models/$i"; done
for i in 1 2 3 4 5; do ln -s "$PWD/fixtures/models/odd-gpt2" "$work/models/odd-$i"; done
evil="$work/models/<img src=x onerror=alert(4)>\"'"
mkdir "$evil"
cp "$work/hostile.safetensors" "$evil/model.safetensors"
for i in 1 2 3; do ln -s "$work/unlike.safetensors" "$work/models/unlike-$i.safetensors"; done
ln -s "$work/moe.safetensors" "$work/models/moe.safetensors"
(cd "$work/models" && find . -mindepth 1 -maxdepth 1 | LC_ALL=C sort) >"$work/list"
(cd "$work/models" && xargs -d '\n' shapeproof inspect --format html -o "$work/several.html" <"$work/list")
(cd "$work/models" && shapeproof check --list "$work/list" --format html -o "$work/checks.html" 2>/dev/null)

expect '100 models, of 346,095 tensors, take less than 2 MB' smaller "$work/several.html" 2000000
expect '100 checks take less than 2 MB' smaller "$work/checks.html" 2000000
expect '100,000 names without a pattern take less than 2 MB' smaller "$work/unlike.html" 2000000
expect '46,080 tensors take less than 200 kB' smaller "$work/moe.html" 200000
expect 'a diff of them takes less than 300 kB' smaller "$work/diff.html" 300000

# ---- in a browser ----

browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || ! command -v "$name" >/dev/null || browser=$name
done
case ${OBJ-} in
*asan) skipped='not under AddressSanitizer, which the browser does not run with' ;;
*) [ -n "$browser" ] && skipped= || skipped='there is no chromium' ;;
esac
if [ -n "$skipped" ]; then
    echo "[  SKIPPED ] pages in a browser: $skipped"
    conclude
    exit
fi

# show PAGE [#...]: the page after its script, into $work/page; what the browser's console has, into $work/console.
# It has no sandbox for root, as in a container.
show() {
    sandbox=
    [ "$(id -u)" != 0 ] || sandbox=--no-sandbox
    timeout 120 "$browser" --headless --disable-gpu $sandbox --user-data-dir="$work/profile" --enable-logging=stderr \
        --window-size=1200,900 --virtual-time-budget=5000 --dump-dom "file://$work/$1${2-}" >"$work/page" 2>"$work/all"
    grep CONSOLE "$work/all" >"$work/console"
    [ -s "$work/page" ] || cat "$work/all"
}

# is_silent: nothing was written to the console.
is_silent() { cat "$work/console" && [ ! -s "$work/console" ]; }
has() { grep -qF -e "$1" "$work/page" || { echo "there is no $1"; return 1; }; }
# has_not ELEMENT
has_not() { ! grep -o "<$1[ >].*" "$work/page"; }
scripts() { [ "$(grep -o '<script' "$work/page" | wc -l)" = 2 ] || { grep '<script' "$work/page"; return 1; }; }

# A browser that shows not even this page cannot run on this machine; why, is in the log.
echo '<p>shown</p>' >"$work/probe.html"
show probe.html
if ! has '<p>shown</p>'; then
    echo "[  SKIPPED ] pages in a browser: $browser shows no page on this machine"
    conclude
    exit
fi

# too_long: the labels of the map that a box has no room for, by 5 pixels for a letter: most are wider.
too_long() {
    grep -o '<\(div\|button\) [^>]*class="box[^>]*>[^<]*' "$work/page" |
        sed -n 's/.*width: \([0-9.]*\)px[^>]*>\(.*\)/\1 \2/p' |
        awk '{ width = $1; sub(/^[^ ]* /, ""); if (length > 2 && 5 * length > width) print width ": " $0 }'
}
fit() { [ -z "$(too_long)" ] || { too_long | head -n 3; return 1; }; }

for page in check prove diff; do
    show $page.html
    expect "$page: the page is whole" has '</footer>'
    expect "$page: the console is silent" is_silent
done

show gpt2.html
expect 'gpt2: the labels of the map fit into their boxes' fit
expect 'gpt2: a name without its size where there is no room for it' grep -q '>c_proj</div>' "$work/page"
show small.html '#by=use%20of%20bytes'
expect 'small: the bytes of the header have a box' has '>[structure]'
show moe.html '#search=layers.7.%20experts.255.&by=layer'
expect 'moe: the console is silent' is_silent
expect 'moe: the search finds the three matrices of an expert' has '<p>3 tensors, '
expect 'moe: one of them' has '<code>model.layers.7.mlp.experts.255.down_proj.weight</code>'
expect 'moe: and the map shows them alone' has 'aria-label="model.layers.7.mlp.experts.255'

show several.html
expect 'several: the console is silent' is_silent
expect 'several: a row for each' [ "$(grep -c '<tr><th scope="row"><a href="#model-' "$work/page")" = 100 ]
expect 'several: the page says what it leaves out' has 'it leaves out the tensors of '
expect 'several: a hostile path is text' has '&lt;img src=x onerror=alert(4)&gt;'
expect 'several: no image' has_not img
show several.html '#model-1'
expect 'several: the map of the model in the window is made' has 'aria-label="'
show checks.html
expect 'checks: the console is silent' is_silent
expect 'checks: those that differ have their findings' \
    [ "$(grep -c '<h3>Findings</h3>' "$work/page")" -ge 5 ]
expect 'checks: every link leads to a model' [ "$(grep -c 'href="#model-' "$work/page")" = \
    "$(grep -c '<article class="model" id="model-' "$work/page")" ]

show unlike.html
expect 'unlike: the console is silent' is_silent
expect 'unlike: the page says what the map leaves out' \
    grep -q 'its map and its search have [0-9,]* of 100,000' "$work/page"
expect 'unlike: and the map shows it' grep -q 'aria-label="\[[0-9,]* others\]' "$work/page"

show hostile.html '#search=script'
expect 'hostile: the console is silent' is_silent
expect 'hostile: names are text' has '<code>&lt;!--&lt;script&gt;\u{2028}\u{202e}\x07</code>'
expect 'hostile: they are found' has '<p>3 tensors, '
expect 'hostile: no image' has_not img
expect 'hostile: no drawing but the bars' has_not 'svg onload'
expect 'hostile: no script but data and program' scripts

# The policy holds where escaping would fail: a script that is put into the page does not run.
sed 's|</main>|<script>document.title = "broken into"</script></main>|' "$work/check.html" >"$work/broken.html"
show broken.html
expect 'another script is refused' grep -q 'Content Security Policy' "$work/console"
expect 'and does not run' sh -c '! grep "<title>broken" "$1"' sh "$work/page"

conclude
