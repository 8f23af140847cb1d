# SPDX-License-Identifier: MIT
# Prints the C string literals of sources, adjacent ones joined, an identifier between two of them being \001.
#
#   awk -f refusals.awk FILE.c...                   the lines of each literal, but for those that a failed test prints
#   awk -v calls=REGEX -f refusals.awk FILE.c...   "FILE<tab>MESSAGE": the first literal in a call of such a function;
#                                                  of a conditional expression, both
function literals(text, only_first,   at, c, piece, open, any, name, n) {
    n = 0; piece = ""; open = any = 0; name = ""
    for (at = 1; at <= length(text); at++) {
        c = substr(text, at, 1)
        if (open) {
            if (c == "\\") { c = substr(text, ++at, 1); piece = piece (c == "n" ? newline : c) }
            else if (c == "\"") open = 0
            else piece = piece c
            continue
        }
        if (c == "\"") { if (name != "") piece = piece "\001"; name = ""; open = any = 1; continue }
        if (c ~ /[ \t\n]/) continue
        if (c ~ /[A-Za-z0-9_]/) { name = name c; continue }
        if (any) { found[++n] = piece (c ~ /[,):]/ && name != "" ? "\001" : ""); piece = ""; any = 0 }
        name = ""
        if (c == "'") { at += substr(text, at + 1, 1) == "\\" ? 3 : 2; continue } # a character
        if (n && only_first && c != ":") return n
    }
    return n
}
function call_at(text,   at, c, depth, open) { # up to the bracket that closes it
    depth = 1
    for (at = 1; at <= length(text) && depth; at++) {
        c = substr(text, at, 1)
        if (open) { if (c == "\\") at++; else if (c == "\"") open = 0; continue }
        if (c == "\"") open = 1
        else if (c == "(") depth++
        else if (c == ")") depth--
    }
    return substr(text, 1, at - 1)
}
function finish(   rest, line, count, i, here) {
    gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, " ", whole)
    newline = calls == "" ? "\n" : ""
    if (calls == "") {
        gsub(/(fail_msg|print_error)[(][^;]*;/, ";", whole)
        count = literals(whole, 0)
        for (i = 1; i <= count; i++) print found[i]
        return
    }
    for (rest = whole; match(rest, calls); rest = substr(rest, RSTART + RLENGTH)) {
        here = call_at(substr(rest, RSTART + RLENGTH))
        count = literals(here, 1)
        for (i = 1; i <= count; i++) print last "\t" found[i]
    }
}
FNR == 1 && NR > 1 { finish(); whole = "" }
{ whole = whole $0 "\n"; last = FILENAME }
END { finish() }
