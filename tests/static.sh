#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds a static command against the command of this machine: from an empty root, which has nothing but it and the
# fixtures, it prints the same bytes about every file of fixtures/, whether it can be read or not.
#
#   sh tests/static.sh COMMAND
#
# A command for another processor runs under qemu-user, in this root. There is no seccomp in qemu, so that the command
# has to refuse what the HDF5 library would read: such files are counted. A portable command reads them.
#
# From the environment: SHAPEPROOF, the command of this machine. Entering another root needs to be root.
set -u
cd "$(dirname "$0")/.." || exit 1
command=$1
. tests/count.sh

qemu=
case $(readelf -h "$command" | sed -n 's/.*Machine: *//p') in
*AArch64*) machine=aarch64 ;;
*X86-64*) machine=x86_64 ;;
*) machine=$(uname -m) ;;
esac
[ "$machine" = "$(uname -m)" ] || qemu=qemu-$machine
is_portable() { $qemu "$command" --version | grep -q '^portable build'; }
warning='the HDF5 library read it without a sandbox: a portable build has only limits of memory, time and open files'

mkdir "$work/root"
cp "$command" "$work/root/shapeproof"
cp -r fixtures "$work/root/fixtures"
if [ -n "$qemu" ]; then
    command -v "$qemu" >/dev/null || { echo "$command needs $qemu (Debian: apt-get install qemu-user)"; exit 1; }
    alone() { "$qemu" "$command" "$@"; }
elif chroot "$work/root" /shapeproof --version >/dev/null 2>&1; then
    alone() { chroot "$work/root" /shapeproof "$@"; }
else
    echo "[  SKIPPED ] an empty root: $(id -un) may not enter one; the command runs in this one"
    alone() { "$command" "$@"; }
fi

# What a portable command says besides.
without_warning() { grep -v "^warning: .*: $warning\$"; }

run_both() { # COMMAND...
    "$SHAPEPROOF" "$@" >"$work/ours" 2>&1
    echo "status $?" >>"$work/ours"
    alone "$@" >"$work/said" 2>&1
    echo "status $?" >>"$work/said"
    without_warning <"$work/said" >"$work/theirs"
}

same() { # NAME COMMAND...: by both commands
    name=$1
    shift
    run_both "$@"
    expect "$name" diff "$work/ours" "$work/theirs"
}

# The same of a file, but that without seccomp the command refuses what libhdf5 would read.
refused=0
same_or_refused() { # NAME COMMAND...
    name=$1
    shift
    run_both "$@"
    if [ -n "$qemu" ] && grep -q 'the sandbox for the HDF5 library could not be set up (seccomp' "$work/theirs"; then
        refused=$((refused + 1))
        expect "$name: is refused" grep -qE '^status 4$|is not read: the sandbox' "$work/theirs" # or a member of it
    else
        expect "$name" diff "$work/ours" "$work/theirs"
    fi
}

is_static() { ! readelf -d "$command" | grep -q NEEDED && ! readelf -l "$command" | grep -q INTERP; }
expect "it is static" is_static
is_portable || same "--version" --version
find fixtures -type f | LC_ALL=C sort >"$work/files"
if [ -n "$qemu" ] || is_portable; then
    while read -r file; do same_or_refused "inspect $file" inspect "$file"; done <"$work/files"
else
    split -l 100 "$work/files" "$work/lot."
    for lot in "$work"/lot.*; do
        # shellcheck disable=SC2046 # names of fixtures have no blanks
        same "inspect: $(head -n 1 "$lot") and what follows" inspect --json $(cat "$lot")
    done
fi
for model in fixtures/models/*/; do same_or_refused "check $model" check "$model"; done
same "prove" prove gpt2
[ $refused = 0 ] || echo "$refused files that libhdf5 would read were refused: $qemu has no seccomp"
conclude
