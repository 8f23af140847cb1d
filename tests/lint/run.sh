#!/bin/sh
# SPDX-License-Identifier: MIT
# Everything that `make lint` checks.
set -u

passed=0 failed=0
for tool in clang-format cppcheck; do
    command -v $tool >/dev/null || { echo "lint: $tool is missing: run 'make deps-lint'" >&2; exit 1; }
done

check() {
    name=$1
    shift
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED  $name"
    fi
}

c_files() { find src include tests -name '*.[ch]' | sort; }
# .ci/run is bash; all other scripts are POSIX sh, as their first line says.
scripts() { find src tests docs .ci fixtures -type f ! -name '*.md' 2>/dev/null | sort | xargs grep -l '^#!.*sh$'; }

format() { c_files | xargs clang-format --dry-run -Werror; }

# Style is the reviewers' matter: cppcheck is asked for faults alone. It does not see the headers of the libraries, and
# need not say where it stopped to look for more.
static_analysis() {
    cppcheck --quiet --std=c11 --language=c --error-exitcode=1 --inline-suppr --enable=warning,portability,performance \
        --suppress=missingInclude --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
        -j "$(nproc 2>/dev/null || echo 1)" -Iinclude -Isrc -DSP_VERSION='""' src
}

# A test looks at those that are built in, too (tests/lang/test_format.c); this one needs no new build to see an edit.
tables() {
    command=${SHAPEPROOF:-build/shapeproof}
    [ -x "$command" ] || { echo "[  SKIPPED ] the layout of tables: make has not built the command"; return 0; }
    find src/tables docs -name '*.shapes' -exec "$command" fmt --check {} +
}

shell() { scripts | xargs shellcheck -S warning -x; }

check "lint self-test" sh tests/lint/selftest.sh
check "layers" sh tests/lint/layers.sh
check "source" sh tests/lint/source.sh
check "grammar" sh tests/lint/grammar.sh
check "examples of causes" sh tests/lint/examples.sh
check "links of the pages" sh tests/lint/links.sh
check "format" format
check "static analysis" static_analysis
check "tables" tables
if command -v shellcheck >/dev/null; then check "shell scripts" shell; fi
sh tests/lint/length.sh
echo "$passed passed, $failed failed"
[ $failed = 0 ]
