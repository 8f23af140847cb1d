#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds a static command against the command of this machine: from an empty root, which has nothing but it and the
# fixtures, it prints the same bytes about every file of fixtures/, whether it can be read or not.
#
#   sh tests/static.sh COMMAND
#
# From the environment: SHAPEPROOF, the command of this machine. Entering another root needs to be root.
set -u
cd "$(dirname "$0")/.." || exit 1
command=$1
. tests/count.sh

mkdir "$work/root"
cp "$command" "$work/root/shapeproof"
cp -r fixtures "$work/root/fixtures"
if chroot "$work/root" /shapeproof --version >/dev/null 2>&1; then
    alone() { chroot "$work/root" /shapeproof "$@"; }
else
    echo "[  SKIPPED ] an empty root: $(id -un) may not enter one; the command runs in this one"
    alone() { "$command" "$@"; }
fi

same() { # NAME COMMAND...: by both commands
    name=$1
    shift
    "$SHAPEPROOF" "$@" >"$work/ours" 2>&1
    echo "status $?" >>"$work/ours"
    alone "$@" >"$work/theirs" 2>&1
    echo "status $?" >>"$work/theirs"
    expect "$name" diff "$work/ours" "$work/theirs"
}

is_static() { ! readelf -d "$command" | grep -q NEEDED && ! readelf -l "$command" | grep -q INTERP; }
expect "it is static" is_static
same "--version" --version
find fixtures -type f | LC_ALL=C sort >"$work/files"
split -l 100 "$work/files" "$work/lot."
for lot in "$work"/lot.*; do
    # shellcheck disable=SC2046 # names of fixtures have no blanks
    same "inspect: $(head -n 1 "$lot") and what follows" inspect --json $(cat "$lot")
done
for model in fixtures/models/*/; do same "check $model" check "$model"; done
same "prove" prove gpt2
conclude
