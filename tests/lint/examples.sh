#!/bin/sh
# SPDX-License-Identifier: MIT
# Each cause in docs/causes.md has an example of its message, and a test expects that message: it stands in a string of
# tests/ or in a recorded output. "..." at the end of an example stands for the rest. What a test puts together of
# pieces is excused by name.
#
#   sh tests/lint/examples.sh [ROOT]
set -eu
cd "${1:-.}"

excused=' tie-flags shard-missing other-shard untied-copy squeezed '

# All expected texts in one line: string literals joined, wrapped lines of reports put together, blanks squeezed.
expected() {
    find tests -name '*.[ch]' -print0 | xargs -0 cat | tr '\n' '\f' |
        sed 's/"[[:blank:]]*\\*\f[[:blank:]]*"//g; s/\\"/"/g' | tr '\f' ' '
    cat tests/cli/*.test | tr '\n' '\f' | sed 's/\f>[[:blank:]]*/ /g' | tr '\f' ' '
}
rows() { # SECTION: its rows, "id<TAB>second cell"
    awk -v section="$1" '/^##/ { inside = $0 ~ section "$" } inside && /^\| `/ {
        id = $0; sub(/^\| `/, "", id); sub(/`.*/, "", id)
        cell = $0; sub(/^\| `[a-z-]*` \| /, "", cell); sub(/ \|$/, "", cell); gsub(/^`|`$/, "", cell)
        print id "\t" cell
    }' docs/causes.md
}

text=$(mktemp)
trap 'rm -f "$text"' EXIT
expected | tr -s ' ' >"$text"
failed=0
for id in $(rows Causes | cut -f1); do
    example=$(rows 'An example of each' | awk -F'\t' -v id="$id" '$1 == id { print $2 }')
    [ -n "$example" ] || { echo "docs/causes.md: $id has no example"; failed=1; continue; }
    case $excused in *" $id "*) continue ;; esac
    grep -qF -e "${example% ...}" "$text" || { echo "docs/causes.md: no test expects the example of $id"; failed=1; }
done
exit $failed
