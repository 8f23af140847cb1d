#!/bin/sh
# SPDX-License-Identifier: MIT
# Each header compiles alone, twice over: the public ones with nothing but include/ in sight, as strict C11 and (when
# there is a C++ compiler) as C++; the private ones as the sources see them. shapeproof.h brings in every public one.
# And no public function is idle: each is called by the command or its reports, which the cases of tests/cli run, by a
# test, or by the example.
#
# From the environment: CC, and DEPS_CPPFLAGS for the headers of the libraries; OBJ. Under AddressSanitizer it is
# skipped: no program runs here.
set -u

case ${OBJ-} in *asan)
    echo '[  SKIPPED ] headers: not under AddressSanitizer, which changes nothing here'
    echo '0 passed, 0 failed'
    exit 0
    ;;
esac

CC=${CC:-cc}
passed=0 failed=0
unit=$(mktemp -d)
trap 'rm -rf "$unit"' EXIT

# check WHAT COMPILER...: compiles what stands in $unit/alone.c.
check() {
    what=$1
    shift
    if "$@" -Werror -fsyntax-only "$unit/alone.c"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$what"
    fi
}

twice() { printf '#include "%s"\n#include "%s"\nextern int something;\n' "$1" "$1" >"$unit/alone.c"; }

# shellcheck disable=SC2086 # CC may carry flags
for path in include/shapeproof/*.h; do
    header=${path#include/}
    twice "$header"
    check "$header does not compile alone as C11" $CC -std=c11 -Wall -Wextra -Wpedantic -Iinclude
    ! command -v c++ >/dev/null ||
        check "$header does not compile alone as C++" c++ -x c++ -std=c++11 -Wall -Wextra -Iinclude
    guard=$(sed -n 's/^#ifndef //p' "$path" | head -n 1)
    printf '#include "shapeproof/shapeproof.h"\n#ifndef %s\n#error missing\n#endif\n' "$guard" >"$unit/alone.c"
    check "shapeproof/shapeproof.h does not include $header" $CC -std=c11 -Iinclude
done
# shellcheck disable=SC2086
for path in $(find src -name '*.h' | sort); do
    twice "${path#src/}"
    check "$path does not compile alone" $CC -std=c11 -Wall -Wextra -Iinclude -Isrc ${DEPS_CPPFLAGS-}
done

# The words of C sources that begin with shapeproof_, without those in comments.
words_of() {
    cat "$@" | awk '
        {
            line = $0
            for (;;) {
                if (inside) {
                    if (!(end = index(line, "*/"))) next
                    line = substr(line, end + 2)
                    inside = 0
                }
                if (!(start = index(line, "/*"))) break
                print substr(line, 1, start - 1)
                line = substr(line, start + 2)
                inside = 1
            }
            print line
        }' | tr -cs 'a-zA-Z0-9_' '\n' | grep '^shapeproof_' | sort -u
}

# A declaration may go over several lines.
declared_in() {
    cat "$@" | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*SHAPEPROOF_API \([^(]*\)(.*/\1/p' | sed -n 's/.*[ *]\(shapeproof_[a-z0-9_]*\)$/\1/p' |
        sort -u
}

declared_in include/shapeproof/*.h >"$unit/declared"
declared_in include/shapeproof/report.h >"$unit/defined" # by src/report itself
# shellcheck disable=SC2046 # sources have no blanks in their names
{
    words_of $(find src/cli tests docs -name '*.[ch]')
    words_of src/report/*.[ch] | comm -23 - "$unit/defined"
} | sort -u >"$unit/used"
for name in $(comm -23 "$unit/declared" "$unit/used"); do
    failed=$((failed + 1))
    echo "$name: nothing calls it: not the command, nor a test, nor the example"
done
passed=$((passed + $(comm -12 "$unit/declared" "$unit/used" | wc -l)))
echo "$passed passed, $failed failed"
[ $failed = 0 ]
