#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes docs/errata.md to stdout, from the output of `prove --json`: the errors of publications.
#
#   sh docs/make_errata.sh >docs/errata.md         (from the root; SHAPEPROOF is the command, build/shapeproof)
#
# Figures are in src/models/figures.json. Formulas are in the files src/tables/papers/claims_*.shapes; the comment at
# the head of such a file describes its publication.
set -eu
command=${SHAPEPROOF:-build/shapeproof}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$command" prove --json >"$folder/json"

# One line for each document in $folder/json: the values of the keys, which are the arguments, with tabs between.
values() {
    awk -v keys="$*" '
    # The text or the number of a key in a line of JSON, or "".
    function value(key,   rest, out, c) {
        rest = $0
        if (!sub(".*[{ ]\"" key "\": ", "", rest)) return ""
        if (rest !~ /^"/) { sub(/[,}].*/, "", rest); return rest }
        rest = substr(rest, 2)
        while ((c = substr(rest, 1, 1)) != "\"") {
            if (c == "\\") { rest = substr(rest, 2); c = substr(rest, 1, 1) }
            out = out c
            rest = substr(rest, 2)
        }
        return out
    }
    BEGIN { count = split(keys, key, " ") }
    { for (i = 1; i <= count; i++) printf "%s%s", value(key[i]), i < count ? "\t" : "\n" }'
}

grep '"printed": .*"verdict": "refuted"' "$folder/json" |
    values model printed of right predicted why at note source >"$folder/figures"
grep '"erratum": true, "as_expected": true' "$folder/json" |
    values file line source table claim given difference cases correction |
    sort -t "$(printf '\t')" -k 1,1 -k 2,2n >"$folder/claims"
count() { wc -l <"$folder/$1" | tr -d ' '; }

# The comment at the head of a file, as one line.
title() { awk '!/^#/ { exit } { sub(/^# */, ""); printf "%s%s", sep, $0; sep = " " }' "src/tables/papers/$1"; }

cat <<EOF
# Errata

This page lists what publications print wrong about numbers of parameters, with the right number:
$(count figures) figures, and $(count claims) formulas and other statements. shapeproof computes each number from the
hyper-parameters of the model. \`shapeproof prove\` compares these numbers with the publications. With \`--all\`, it
also lists what is right.

A figure is listed only if no usual convention gives it. A figure counts as right if the computed number, rounded to the
last digit of the figure, equals the figure. Zeros at the end of a figure may come from rounding: \`340M\` is right for
335,141,888, because this number rounded to 10M is 340M. A figure also counts as right if it leaves out the embedding or
the head, counts a tied head on its own, or counts buffers; \`prove --all\` names the convention.

## Figures

The column *counts* has the expression that the figure is about; it is empty if the figure is about all parameters.
\`shapeproof eval MODEL EXPRESSION\` computes it again.
EOF
awk -F '\t' '
function cell(text) { gsub(/\|/, "\\|", text); return text }
function code(text) { return text == "" || text == "total" ? "" : "`" cell(text) "`" }
# 1234567 as 1,234,567; other texts as they are.
function grouped(number) {
    if (number !~ /^[0-9]+$/) return number
    while (match(number, /[0-9][0-9][0-9][0-9]($|,)/)) number = substr(number, 1, RSTART) "," substr(number, RSTART + 1)
    return number
}
$9 != source {
    source = $9
    print "\n### " source "\n"
    if (source ~ /^Sizes of models/)
        print "The size is that in the name of the model or in its README. The column *where* has the source of the " \
            "hyper-parameters.\n"
    print "| model | counts | printed | right | what is wrong | where |\n|---|---|---|---|---|---|"
}
{
    right = $4 ~ /[A-Z]$/ ? "**" $4 "**, " grouped($5) : "**" grouped($5) "**"
    remark = $6 ($8 == "" ? "" : "; " $8)
    print "| " $1 " | " code($3) " | " grouped($2) " | " right " | " cell(remark) " | " cell($7) " |"
}' "$folder/figures"

cat <<EOF

## Formulas and statements

Letters such as N and E are those of the table; \`shapeproof derive TABLE\` explains them. The file of the claims, in
\`src/tables/papers\`, defines other names, such as d and \`block\`. Conditions of a statement follow *given*;
\`defaults\` means that every other flag has its default value. The column *off by* compares the
right side of the statement with the left side: \`too large by\` and \`short by\` give the difference. If the statement
is about a number, the column has the computed number, and the claimed or printed one.
EOF
for file in $(cut -f 1 "$folder/claims" | uniq); do
    printf '\n### %s\n\n%s\n\n' "$file" "$(title "$file")"
    awk -F '\t' -v file="$file" '
    function code(text) {
        sub(/^(erratum |claim )+/, "", text)
        gsub(/\|/, "\\|", text)
        return text == "" ? "" : "`" text "`"
    }
    BEGIN {
        print "| line | table | claimed | off by | correct | where, and what is wrong |"
        print "|---|---|---|---|---|---|"
    }
    $1 == file {
        sub(/, printed as /, "; printed ", $7)
        claimed = code($5) ($6 == "" ? "" : ", given " code($6))
        print "| " $2 " | `" $4 "` | " claimed " | " $7 ($8 == "" ? "" : "; " $8) " | " code($9) " | " $3 " |"
    }' "$folder/claims"
done
printf '\n`docs/make_errata.sh` writes this page from the output of `prove`, and a test compares the two.\n'
