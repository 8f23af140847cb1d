#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs a wheel into a fresh virtual environment, where it takes no package along, and runs the tests of the Python
# package with what is installed: library, command and modules. Then the names that its files ask of other libraries:
# the C library alone, and no symbol of it that is newer than the wheel's tag promises (manylinux2014: glibc 2.17).
# A wheel for another processor is unpacked, and its command runs under qemu-user; pip refuses to install it here.
#
#   sh tests/wheel.sh WHEEL
set -u
cd "$(dirname "$0")/.." || exit 1
wheel=$1
. tests/count.sh

# The processor of the wheel, by its tag, and what runs its programs here. Those for glibc need its loader, too.
case $wheel in *_aarch64.whl) machine=aarch64 ;; *_x86_64.whl) machine=x86_64 ;; *) machine=$(uname -m) ;; esac
is_foreign=false qemu=
if [ "$machine" != "$(uname -m)" ]; then
    is_foreign=true
    qemu="qemu-$machine -L /usr/$machine-linux-gnu"
    command -v "qemu-$machine" >/dev/null && [ -d "/usr/$machine-linux-gnu" ] ||
        { echo "$wheel needs qemu-$machine and /usr/$machine-linux-gnu (Debian: docs/install.md)"; exit 1; }
fi

unpacks() {
    python3 -m zipfile -e "$wheel" "$work/venv" && mkdir "$work/venv/bin" &&
        mv "$work"/venv/*.data/scripts/shapeproof "$work/venv/bin/" && chmod +x "$work/venv/bin/shapeproof"
}
installs() {
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q --no-index --disable-pip-version-check "$wheel"
}
command_runs() {
    # shellcheck disable=SC2086 # words
    $qemu "$work/venv/bin/shapeproof" check fixtures/models/tiny-gpt2 | grep '^match: all 28 tensors'
}
# Under qemu there is no seccomp, without which no HDF5 file is read.
command_reads_hdf5() { "$work/venv/bin/shapeproof" inspect fixtures/cross/pair.h5 | grep keras-hdf5; }
is_for_machine() {
    files | xargs readelf -h | grep 'Machine:' | sort -u | grep -ic "$(echo "$machine" | sed 's/x86_64/x86-64/')" |
        grep -x 1
}
# The tests find the package by its own name, and compare it with the command of the wheel.
package_passes() {
    library=$("$work/venv/bin/python" -c 'import os, shapeproof; print(os.path.dirname(shapeproof.__file__))')
    case $library in "$work"/*) ;; *) echo "the package is that of $library"; return 1 ;; esac
    SHAPEPROOF=$work/venv/bin/shapeproof SHAPEPROOF_LIBRARY=$library/libshapeproof.so.0 PYTHONPATH=$PWD/tests/python \
        PYTHONPYCACHEPREFIX=$work/pycache "$work/venv/bin/python" tests/python/run.py test_package test_docs
}
# With the torch of Debian, which a virtual environment has only if it sees the packages of the system.
module_of_torch_is_checked() {
    python3 -m venv --system-site-packages "$work/torch" &&
        "$work/torch/bin/pip" install -q --no-index --disable-pip-version-check "$wheel" &&
        PYTHONPATH=$PWD/tests/python PYTHONDONTWRITEBYTECODE=1 SHAPEPROOF=$work/torch/bin/shapeproof \
            "$work/torch/bin/python" tests/python/run.py test_frameworks.Frameworks.test_torch_module >"$work/tested"
    cat "$work/tested"
    tail -n 1 "$work/tested" | grep -qx '1 passed, 0 failed'
}
files() { find "$work/venv" -name libshapeproof.so.0 -o -path '*/bin/shapeproof'; }
needs_the_c_library() {
    ! files | xargs readelf -d | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vxE 'lib(c|m|dl|pthread|rt)\.so\.[0-9]+|ld-linux-.*'
}
needs_old_glibc() { # 2.17
    ! files | xargs readelf -V | grep -o 'GLIBC_[0-9.]*' | sort -u | awk -F'[_.]' '$3 > 17 { print; new = 1 }
        END { exit !new }'
}
# Milliseconds of processor time, the least of ten, in a process of its own each: other programs do not count.
import_time() {
    "$work/venv/bin/python" - <<'END'
import subprocess, sys
program = "import time; t = time.process_time(); import shapeproof; print(time.process_time() - t)"
best = min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(10))
print(f"import shapeproof: {best * 1000:.1f} ms")
END
}

if $is_foreign; then
    expect "it unpacks" unpacks
    expect "the command runs" command_runs
    echo "[  SKIPPED ] the tests of the package: no Python for $machine here"
else
    expect "pip installs it" installs
    expect "the command runs" command_runs
    expect "the command reads HDF5" command_reads_hdf5
    import_time
    expect "the tests of the package" package_passes
    if python3 -c 'import torch' 2>/dev/null; then
        expect "a live module of torch is checked" module_of_torch_is_checked
    else echo '[  SKIPPED ] a live module of torch: it is not installed (Debian: python3-torch)'; fi
fi
if ! command -v readelf >/dev/null; then
    echo '[  SKIPPED ] what library and command need: there is no readelf'
    conclude
    exit
fi
expect "library and command are for $machine" is_for_machine
case $wheel in
*manylinux2014*)
    expect "it needs the C library alone" needs_the_c_library
    expect "it needs glibc 2.17" needs_old_glibc
    ;;
esac
conclude
