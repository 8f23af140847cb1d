#!/bin/sh
# SPDX-License-Identifier: MIT
# The lint scripts are tests, so they are tested: each one passes a clean small tree and fails on each planted fault.
set -u

here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

# A tree that is clean under both scripts.
plant_clean() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/src/base" "$tree/src/model" "$tree/src/read/zip" "$tree/src/lang" "$tree/src/check" \
        "$tree/src/cli" "$tree/include/shapeproof"
    put include/shapeproof/a.h '#include <stdint.h>'
    put src/base/b.c '#include "base/b.h"' '#include "shapeproof/a.h"' '/* printf( and' ' * exit( here */ int x;' \
        'int f(void) { return snprintf(0, 0, "puts("); }'
    put src/base/b.h 'void f(void) __attribute__((format(printf, 1, 2)));'
    put src/model/m.c '#include "base/b.h"'
    put src/read/archive_reader.c '#include "read/zip/archive.h"' '#include "read/torch/zip.h"' '#include "base/b.h"'
    put src/read/zip/archive.c '#include <zip.h>' '#include "read/reader.h"' '#include "base/b.h"'
    put src/check/c.c '#include "model/m.h"'
    put src/cli/main.c '#include "cli/options.h"' '#include "shapeproof/a.h"' 'int main(void) { return puts("x"); }'
}

put() {
    file=$tree/$1
    shift
    { echo '/* SPDX-License-Identifier: MIT */' && printf '%s\n' "$@"; } >"$file"
}

# expect STATUS SCRIPT WHAT
expect() {
    sh "$here/$2" "$tree" >"$tree/out" 2>&1
    status=$?
    if [ $status = "$1" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "$2: status $status, expected $1: $3"
        cat "$tree/out"
    fi
}

# fault SCRIPT FILE LINE...: the script must fail once the file holds these lines.
fault() {
    script=$1 file=$2
    shift
    plant_clean
    put "$@"
    expect 1 "$script" "$file: $*"
}

plant_clean
expect 0 layers.sh 'a clean tree'
expect 0 source.sh 'a clean tree'

fault layers.sh src/base/b.c '#include "model/m.h"'
fault layers.sh src/base/b.c '  # include "lang/parse.h"'
fault layers.sh src/check/c.c '#include "read/reader.h"'
fault layers.sh src/lang/l.c '#include "model/m.h"'
fault layers.sh src/read/zip/archive.c '#include "read/torch/zip.h"'
fault layers.sh src/read/archive_reader.c '#include "read/torch/torch.h"'
fault layers.sh src/read/r.c '#include <zip.h>'
fault layers.sh src/cli/main.c '#include "base/text.h"'
fault layers.sh include/shapeproof/a.h '#include "base/b.h"'
fault layers.sh src/base/b.c '#include "b.h"'
fault layers.sh src/base/b.c '#include "base/../model/m.h"'
fault layers.sh src/stray.c 'int x;'

fault source.sh src/base/b.c 'int f(void) { return snprintf(a, 9, "%.3g", d); }'
fault source.sh src/base/b.c 'double f(void) { return strtod("1.5", 0); }'
fault source.sh src/base/b.c 'struct sp_a {' '};' 'struct sp_a {' '};'
fault source.sh include/shapeproof/p.h 'int sp_public(void);'
fault source.sh src/base/b.c 'void f(void) { printf("x"); }'
fault source.sh src/base/b.c '    SP_CALL(error, NULL);' '    work();'
fault source.sh src/base/b.c 'void f(void) { fputs("x", stderr); }'
fault source.sh src/cli/list.c 'void f(void) { snprintf(run->error.message, 9, "%s", path); }'
fault source.sh src/cli/list.c 'void f(void) { snprintf(error->hint, sizeof error->hint, "%s", path); }'
fault source.sh src/read/r.c 'bool f(void) { return sp_fail_lines(error, 1, 2, text); }'
fault source.sh src/base/b.c '/* a */ void f(void) { exit (1); } /* b'
fault source.sh src/base/b.c 'char *f(void) { return getenv("HOME"); }'
fault source.sh src/cli/main.c 'void f(char *a, char *b) { strcpy(a, b); }'
fault source.sh src/cli/main.c 'int f(char *a) { return atoi(a); }'
fault source.sh src/base/b.c "/* $(echo 'TO-DO' | tr -d -) */"
fault source.sh src/base/b.c "/* $(printf '%0120d' 0) */"
# The grammar of the page, and of the parser.
plant_clean
mkdir -p "$tree/docs" "$tree/src/lang/syntax"
printf '%s\n' '```ebnf' 'row = name' '    | use ;   (* one *)' '```' >"$tree/docs/language.md"
put src/lang/syntax/parser.c '/* A row.' ' *' ' *     row = name' ' *         | use ; */' 'int row;'
expect 0 grammar.sh 'the same production'
put src/lang/syntax/parser.c '/* row = name ; */' 'int row;'
expect 1 grammar.sh 'another production'

# The links of the pages.
mkdir -p "$tree/docs"
printf '%s\n' '[how](docs/a.md#what---data-is) and `[no](link)`' >"$tree/README.md"
printf '%s\n' '# What `--data` is' '[up](../README.md) [there](https://example.org/x#y)' >"$tree/docs/a.md"
expect 0 links.sh 'pages and headings'
printf '%s\n' '# What `--data` was' >"$tree/docs/a.md"
expect 1 links.sh 'no such heading'
printf '%s\n' '[other](docs/b.md)' >"$tree/README.md"
expect 1 links.sh 'no such page'

plant_clean
echo 'int x;' >"$tree/src/base/bare.c"
expect 1 source.sh 'no licence line'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
