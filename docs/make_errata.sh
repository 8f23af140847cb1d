#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes docs/errata.md to stdout, from the output of `prove --json`: the errors of publications.
#
#   sh docs/make_errata.sh >docs/errata.md         (from the root; SHAPEPROOF is the command, build/shapeproof)
#
# A publication is a file src/tables/papers/claims_*.shapes; the comment at its head describes it.
set -eu
command=${SHAPEPROOF:-build/shapeproof}

# One erratum a line: file, line, source, table, claim, given, difference, counter-example, cases, correction.
errata() {
    "$command" prove --json | awk '
    # The text of a key in a line of JSON, or "".
    function text(key,   rest, out, c) {
        rest = $0
        if (!sub(".*[{ ]\"" key "\": \"", "", rest)) return ""
        while ((c = substr(rest, 1, 1)) != "\"") {
            if (c == "\\") { rest = substr(rest, 2); c = substr(rest, 1, 1) }
            out = out c
            rest = substr(rest, 2)
        }
        return out
    }
    function number(key,   rest) {
        rest = $0
        sub(".*\"" key "\": ", "", rest)
        return rest + 0
    }
    BEGIN { OFS = "\t" }
    /"erratum": true, "as_expected": true/ {
        print text("file"), number("line"), text("source"), text("table"), text("claim"), text("given"),
            text("difference"), text("counterexample"), text("cases"), text("correction")
    }' | sort -t "$(printf '\t')" -k 1,1 -k 2,2n
}

# The comment at the head of a file, as one line.
title() { awk '!/^#/ { exit } { sub(/^# */, ""); printf "%s%s", sep, $0; sep = " " }' "src/tables/papers/$1"; }

list=$(mktemp)
trap 'rm -f "$list"' EXIT
errata >"$list"

cat <<EOF
# Errata

This page lists $(wc -l <"$list" | tr -d ' ') wrong statements about numbers of parameters in publications. Each
statement is a claim in a file \`src/tables/papers/claims_*.shapes\`, with the mark \`erratum\`. \`shapeproof prove\`
refutes it. The next claim without this mark is the correction, which \`prove\` proves. \`shapeproof prove --all\` also
shows the statements that are right.

The heading of an entry is the source: the publication, the line in its text, and what is wrong there. The parentheses
name the table that the statement is about, and the line of the claim in its file. The other lines are:

- \`claimed\`: the statement. Its conditions follow *given*; \`defaults\` means that every other flag has its default
  value.
- \`difference\`: by how much the right side is too large, or falls short of the left side.
- \`computed\`: the right value.
- \`counter-example\`: values of the letters, the value of the left side, and after "claimed" that of the right side.
- \`correct\`: the correction.

Letters such as N and E are those of the table; \`shapeproof derive TABLE\` explains them. The file of the claims
defines other names, such as d and \`block\`.

\`docs/make_errata.sh\` writes this page from the output of \`prove\`, and a test compares the two.
EOF
for file in $(cut -f 1 "$list" | uniq); do
    printf '\n## %s\n\n%s\n' "$file" "$(title "$file")"
    awk -F '\t' -v file="$file" '
    function code(text) { sub(/^(erratum |claim )+/, "", text); return "`" text "`" }
    function item(label, text) { if (text != "") print "- " label ": " text }
    $1 == file {
        print "\n**" $3 "** (about `" $4 "`, claim in line " $2 ")\n"
        item("claimed", code($5) ($6 == "" ? "" : ", given `" $6 "`"))
        computed = sub(/, printed as /, "; the publication prints ", $7) || $7 ~ /^[0-9]+, claimed /
        item(computed ? "computed" : "difference", $7)
        item("counter-example", $8)
        item("cases", $9)
        item("correct", $10 == "" ? "" : code($10))
    }' "$list"
done
