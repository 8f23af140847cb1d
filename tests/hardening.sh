#!/bin/sh
# SPDX-License-Identifier: MIT
# The command and the library have the protections that the compiler was asked for (HARDEN, FORTIFY and READ_ONLY in the
# Makefile): $OBJ/flags names them, and the files must show each.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/count.sh
OBJ=${OBJ:-build/release}

skip() {
    echo "[  SKIPPED ] hardening: $1"
    echo '0 passed, 0 failed'
    exit 0
}
case $OBJ in *release) ;; *) skip 'only a release build is hardened' ;; esac
command -v readelf >/dev/null || skip 'there is no readelf'

asked_for() { grep -qe " $1" "$OBJ/flags"; }
# has PATTERN READELF_OPTION FILE
has() { LC_ALL=C readelf -W "$2" "$3" | grep -Eq "$1"; }

for file in "$OBJ/shapeproof" "$OBJ"/libshapeproof.so.*; do
    expect "$file looks up its functions before it starts" has 'BIND_NOW|Flags:.* NOW' -d "$file"
    expect "$file has a part that is read-only after that" has 'GNU_RELRO' -l "$file"
    expect "$file has a stack that is not executed" has 'GNU_STACK .* RW ' -l "$file"
    expect "$file is loaded anywhere" has 'Type: +DYN' -h "$file"
    ! asked_for -fstack-protector-strong || expect "$file checks its stack" has __stack_chk_fail --dyn-syms "$file"
    ! asked_for -D_FORTIFY_SOURCE=3 || expect "$file checks its buffers" has '__[a-z]+_chk' --dyn-syms "$file"
done
# The note of a whole program also depends on the objects of the C library.
! asked_for -fcf-protection || expect 'indirect jumps go to marked places' has IBT -n "$OBJ/src/base/text.o"
! asked_for -mbranch-protection=standard ||
    expect 'indirect jumps go to marked places' has BTI -n "$OBJ/src/base/text.o"
conclude
