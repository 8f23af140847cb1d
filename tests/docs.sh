#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the examples of the documentation: every line "$ command" of a ```console block, from the root of the project,
# must write what stands below it (stdout and stderr together). A line "..." stands for any number of lines. Blocks of
# other types are not run.
#
#   sh tests/docs.sh [FILE.md]...    default: README.md and docs/**/*.md
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/cli/harness.sh

# command.N, expected.N and the line of each command in `lines`; prints how many there are.
split_examples() {
    rm -f "$work"/expected.* "$work"/command.* "$work/lines"
    awk -v work="$work" '
        function finish() { if (n) close(work "/expected." n) }
        /^[ \t]*```/ {
            running = !inside && /^[ \t]*```console[ \t]*$/
            inside = !inside
            started = 0
            next
        }
        running && /^\$ / {
            finish()
            n++
            started = 1
            print substr($0, 3) > (work "/command." n)
            close(work "/command." n)
            printf "" > (work "/expected." n)
            print FNR > (work "/lines")
            next
        }
        running && !started { print FILENAME ":" FNR ": output without a command" > "/dev/stderr"; n++ }
        running && started { print > (work "/expected." n) }
        END { finish(); print n + 0 }' "$1"
}

# Prints the actual lines that "..." stands for in their place, so that what matches becomes equal.
expand_dots() { # EXPECTED ACTUAL
    awk '
        FILENAME == ARGV[1] { want[++wanted] = $0; next }
        { have[++had] = $0 }
        END {
            # reach[i, j]: the first i expected lines account for the first j actual ones
            reach[0, 0] = 1
            for (i = 1; i <= wanted; i++)
                for (j = 0; j <= had; j++)
                    reach[i, j] = want[i] == "..." ? reach[i - 1, j] || (j && reach[i, j - 1]) \
                                                   : j && reach[i - 1, j - 1] && want[i] == have[j]
            if (reach[wanted, had]) for (j = 1; j <= had; j++) print have[j]
            else for (i = 1; i <= wanted; i++) print want[i]
        }' "$1" "$2"
}

check_examples() {
    examples=$(split_examples "$1")
    n=0
    status=0
    while [ $n -lt "$examples" ]; do
        n=$((n + 1))
        [ -f "$work/command.$n" ] || { failed=$((failed + 1)); continue; }
        run_case "{ $(cat "$work/command.$n")
} 2>&1"
        expand_dots "$work/expected.$n" "$work/stdout" >"$work/expanded"
        judge "$1:$(sed -n "${n}p" "$work/lines"): $(cat "$work/command.$n")" "$work/expanded" "$work/stdout"
    done
}

# shellcheck disable=SC2046 # documents have no blanks in their names
[ $# -gt 0 ] || set -- $(ls README.md 2>/dev/null) $(find docs -name '*.md' | sort)
for file in "$@"; do check_examples "$file"; done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
