#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the examples of the documentation: every line "$ command" of a ```console block must write what stands below it
# (stdout and stderr together). A line "..." stands for any number of lines. Blocks of other types are not run, but
# a comment in the line above can say what they are:
#
#   <!-- same as FILE -->     the block must be what FILE holds
#   <!-- saved as NAME -->    the block is saved under that name, for the commands that follow
#
# The commands run in a directory of their own that looks like the root of the project, so that they may write files;
# ./example there is docs/example.c, built.
#
#   sh tests/docs.sh [FILE.md]...    default: README.md, docs/llms.txt and docs/**/*.md
#
# Under AddressSanitizer it does not run the pages of the project: the recorded commands of tests/cli do there what the
# examples do.
set -u
cd "$(dirname "$0")/.." || exit 1
case $#${OBJ-} in 0*asan)
    echo '[  SKIPPED ] examples of the pages: not under AddressSanitizer, as tests/cli runs the same commands'
    echo '0 passed, 0 failed'
    exit 0
    ;;
esac
. tests/cli/harness.sh

# command.N, expected.N and the line of each command in `lines`; prints how many there are.
split_examples() {
    rm -f "$work"/expected.* "$work"/command.* "$work"/block.* "$work/lines"
    awk -v work="$work" '
        function finish() { if (n) { close(work "/expected." n); close(work "/block." n) } }
        function begin(command) {
            finish()
            n++
            print command > (work "/command." n)
            close(work "/command." n)
            printf "" > (work "/expected." n)
            print FNR > (work "/lines")
        }
        /^<!-- (same|saved) as [^ ]+ -->$/ { how = $2; file = $4; next }
        /^[ \t]*```/ {
            running = !inside && /^[ \t]*```console[ \t]*$/
            started = copying = 0
            inside = !inside
            if (inside && how == "same") { begin("cat " file); started = running = 1 }
            if (inside && how == "saved") { begin("cp " work "/block." (n + 1) " ./" file); copying = 1 }
            how = ""
            next
        }
        copying { print > (work "/block." n); next }
        running && /^\$ / { begin(substr($0, 3)); started = 1; next }
        running && !started { print FILENAME ":" FNR ": output without a command" > "/dev/stderr"; n++ }
        running && started { print > (work "/expected." n) }
        { how = "" }
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
[ $# -gt 0 ] || set -- README.md docs/llms.txt $(find docs -name '*.md' | sort)
mkdir "$work/root"
ln -s "$PWD"/* "$work/root"
# A user who has built the program of the README has an ./example of his own.
ln -sfn "$(cd "${OBJ:-build/release}" && pwd)/docs/example" "$work/root"
cd "$work/root" || exit 1
for file in "$@"; do check_examples "$file"; done
conclude
