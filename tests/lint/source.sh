#!/bin/sh
# SPDX-License-Identifier: MIT
# What no source may hold: output or exit outside the command, unbounded string functions, memory past base/call.h,
# notes of unfinished work, lines over 120 columns, a file without its licence line, a struct tag that means two things.
#
#   sh tests/lint/source.sh [ROOT]
#
# Exceptions, one "FILE WORD" a line, stand in tests/lint/allow with the reason beside them.
set -eu
export LC_ALL=C
cd "${1:-.}"

allow=tests/lint/allow
[ -f $allow ] || allow=/dev/null
folders=
for folder in src include tests fixtures docs .ci; do [ ! -d $folder ] || folders="$folders $folder"; done

# Words in code: comments and strings are blanked first.
find src include -name '*.[ch]' | sort | xargs awk -v allow="$allow" '
function blame(why) { print FILENAME ":" FNR ": " why; count++ }
function blank(text,   out, start, end) {
    gsub(/\\./, "", text)
    gsub(/'\''[^'\'']*'\''/, "0", text)
    gsub(/"[^"]*"/, "\"\"", text)
    sub(/\/\/.*/, "", text)
    out = ""
    for (;;) {
        if (comment) {
            end = index(text, "*/")
            if (!end) return out
            text = substr(text, end + 2)
            comment = 0
        }
        start = index(text, "/*")
        if (!start) return out text
        out = out substr(text, 1, start - 1) " "
        text = substr(text, start + 2)
        comment = 1
    }
}
BEGIN {
    banned = "strcpy strcat stpcpy sprintf vsprintf strtok gets atoi atol atof strtod strtof strtold" \
             " system popen alloca"
    private = "printf fprintf vprintf vfprintf puts fputs putc putchar fputc fwrite perror stdout stderr stdin" \
              " exit _exit _Exit quick_exit abort getenv secure_getenv setenv isatty signal"
    memory = "malloc calloc realloc reallocarray strdup strndup asprintf vasprintf getline getdelim open_memstream free"
    split(memory, list, " ")
    for (i in list) allocates[list[i]] = 1
    split(banned, list, " ")
    for (i in list) everywhere[list[i]] = 1
    split(private, list, " ")
    for (i in list) library[list[i]] = 1
    while ((getline line < allow) > 0) if (split(line, word, " ") >= 2) excused[word[1], word[2]] = 1
}
FNR == 1 { comment = begins = 0 }
{
    code = blank($0)
    if (code ~ /^[ \t]*#[ \t]*include/) next
    if (begins && code !~ /^ *SP_SPENDS\(/) blame("SP_CALL without SP_SPENDS, which names the step")
    begins = code ~ /^ *SP_CALL\(/
    if (code ~ /printf\(.*error[a-z]*(\.|->)(message|hint),/ && FILENAME !~ /^src\/(base\/error|cli\/message)\.c$/)
        blame("text of a file may begin a line of an error: sp_fail, sp_hint, cli_fail, cli_hint make it printable")
    if (code ~ /sp_fail_lines\(/ &&
        FILENAME !~ /^src\/(verify\/evaluate|prove\/(derive_claims|fit|solve_together))\.c$/ &&
        FILENAME !~ /^src\/(base\/error\.[ch]|lang\/syntax\/source\.c|prove\/(configured|derive)\.c)$/)
        blame("sp_fail_lines is for what sp_diagnose has made")
    gsub(/[^A-Za-z0-9_(]+/, " ", code)
    gsub(/ ?\(/, "( ", code)
    words = split(code, word, " ")
    if ($0 ~ /(printf|fail)\(.*%[-+ #0-9*]*(\.([1-9*][0-9]*)?)?[aAeEfFgG]/ &&
        FILENAME !~ /^src\/(base\/real\.[ch]|cli\/)/)
        blame("the point of a real number is the comma of some locales: sp_real_text")
    for (i = 1; i <= words; i++) {
        if (!sub(/\($/, "", word[i]) && word[i] !~ /^std(in|out|err)$/) continue # only calls and streams
        if ((FILENAME, word[i]) in excused) continue
        if (word[i] in everywhere) blame(word[i] " is banned")
        if (word[i] in allocates && FILENAME !~ /^src\/(cli|browse|fleet|tables|web)\//)
            blame(word[i] " is not seen by a call that fails: base/call.h, base/arena.h")
        if (word[i] in library && FILENAME !~ /^src\/cli\//) blame(word[i] " belongs to src/cli")
    }
}
END { exit count > 0 }' || failed=1

# A tag beginning with sp_ or shapeproof_ is one struct in the whole tree. What is static in a file has no prefix, and
# may repeat. Public headers hold no name of the library's internals.
find src include -name '*.[ch]' | sort | xargs awk '
/^struct (sp|shapeproof)_[a-z0-9_]+ \{/ {
    if ($2 in defined) { print FILENAME ":" FNR ": struct " $2 " is also defined in " defined[$2]; count++ }
    else defined[$2] = FILENAME
}
FILENAME ~ /^include\// && /(^|[^A-Za-z0-9_])(sp|SP)_[A-Za-z]/ {
    print FILENAME ":" FNR ": a public name begins with shapeproof_ or SHAPEPROOF_"
    count++
}
END { exit count > 0 }' || failed=1

# Words and widths in everything that people write.
# shellcheck disable=SC2086 # the folders are words
find $folders \( -name '*.[ch]' -o -name '*.sh' -o -name '*.awk' -o -name '*.py' -o -path '.ci/*' \) -type f | sort |
    xargs awk '
function blame(why) { print FILENAME ":" FNR ": " why; count++ }
function end_file() {
    if (licensed || !file || file ~ /^fixtures/) return
    print file ": no SPDX-License-Identifier in the first two lines"
    count++
}
FNR == 1 { end_file(); file = FILENAME; licensed = 0 }
FNR <= 2 && /SPDX-License-Identifier: / { licensed = 1 }
/(^|[^A-Za-z0-9_])(TO''DO|FIX''ME|X''XX)([^A-Za-z0-9_]|$)/ { blame("unfinished work has no place here") }
{ gsub(/[\200-\277]/, "") } # a UTF-8 character is one column
length($0) > 120 { blame(length($0) " columns, at most 120") }
END { end_file(); exit count > 0 }' || failed=1

exit "${failed:-0}"
