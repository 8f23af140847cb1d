#!/bin/sh
# SPDX-License-Identifier: MIT
# The grammar in docs/language.md and the productions above the parser's functions are the same.
#
#   sh tests/lint/grammar.sh [ROOT]
set -eu
cd "${1:-.}"

# One production a line, "name = ... ;", blanks squeezed, without the page's (* comments *).
squeeze() { tr '\n' ' ' | sed 's/(\*[^)]*\*)//g; s/  */ /g; s/ ; */ ;\n/g'; }
page() { sed -n '/^```ebnf$/,/^```$/{/^```/d;p}' docs/language.md | squeeze; }
# The comments of the parser as one text: a production may stand behind other words.
parser() { sed -n 's/^\/\* //p; s/^ \* *//p' src/lang/syntax/*.c | sed 's/ \*\/$//' | tr '\n' ' ' | sed 's/  */ /g'; }

text=$(parser)
page | sed 's/^ //' | grep . | {
    missing=0
    while IFS= read -r production; do
        case $text in *"$production"*) ;; *)
            echo "no function of the parser has the production: $production"
            missing=1
            ;;
        esac
    done
    exit $missing
}
