#!/bin/sh
# SPDX-License-Identifier: MIT
# Lets each call of the system fail in turn, in every command and with a file of every format: `make test-faults`.
#
#   sh tests/faults/run.sh [MOST]     so many faults of a kind in a command; default 12
#
# drive.c says what counts as passed; at the end is a table of calls and outcomes. The calls are replaced by LD_PRELOAD,
# for which it needs a C library whose malloc can be replaced so. `make MODE=asan test-faults` links inject.c into the
# command instead; then errors and leaks that AddressSanitizer finds are failures, too.
# From the environment: SHAPEPROOF, the command under test; FAULTY, one that inject.c is linked into; CC; OBJ; MESSAGES.
set -u
cd "$(dirname "$0")/../.." || exit 1
command=$(realpath "${SHAPEPROOF:-build/shapeproof}")
cc=${CC:-cc}
tools=${OBJ:-build/release}/faults
mkdir -p "$tools"
commands=$tools/commands
$cc -std=c11 -O1 -Wall -Wextra tests/faults/drive.c -o "$tools/drive" || exit 1
$cc -std=c11 -O1 -Wall -Wextra -pthread tests/faults/serve.c -o "$tools/serve" || exit 1

# The server ends when nobody has the other end of its standard input open any more. The driver empties the cache.
XDG_CACHE_HOME=$(realpath "$tools")/cache
export XDG_CACHE_HOME
rm -f "$tools/open" "$tools/url"
mkfifo "$tools/open" || exit 1
"$tools/serve" fixtures/models/tiny-gpt2/model.safetensors fixtures/models/tiny-gpt2/config.json \
    <"$tools/open" >"$tools/url" &
exec 9>"$tools/open"
tries=0
until [ -s "$tools/url" ] || [ $((tries += 1)) -gt 50 ]; do sleep 0.1; done
sed "s,OUT/,$tools/,; s,URL/,$(cat "$tools/url")/," tests/faults/commands >"$commands"

if [ -n "${FAULTY:-}" ]; then
    # A status that no command has. The sanitizer of a child has nowhere to print to; its parent sees the status.
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99:detect_leaks=1"
    "$tools/drive" "$(realpath "$FAULTY")" - "${1:-12}" <"$commands" 9>&-
    exit
fi
if ! $cc -O1 -fPIC -shared -Wall -Wextra tests/faults/inject.c -o "$tools/inject.so" -ldl ||
    ! LD_PRELOAD=$(realpath "$tools/inject.so") "$command" --version >/dev/null 2>&1; then
    echo 'skipped: no calls of this command can be replaced (another C library than glibc, or ThreadSanitizer)'
    exit 77
fi
"$tools/drive" "$command" "$(realpath "$tools/inject.so")" "${1:-12}" <"$commands" 9>&-
