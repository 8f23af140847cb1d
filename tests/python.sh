#!/bin/sh
# SPDX-License-Identifier: MIT
# The tests of the Python package in tests/python, by unittest alone. They are skipped where there is no python3, and
# under AddressSanitizer, which would have to be loaded before Python. The tests of models in memory also use torch,
# where it is installed.
#
# From the environment: OBJ (the shared library), SHAPEPROOF (the command under test).
set -u
cd "$(dirname "$0")/.." || exit 1

skip() {
    echo "[  SKIPPED ] the Python package: $1"
    echo '0 passed, 0 failed'
    exit 0
}

command -v python3 >/dev/null || skip 'there is no python3'
python3 -c 'import ctypes, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || skip 'python3 is older than 3.9'
case $OBJ in *asan) skip 'not under AddressSanitizer' ;; esac

SHAPEPROOF_LIBRARY=$PWD/${OBJ#"$PWD"/}/libshapeproof.so.0 PYTHONPATH=$PWD/src/python:$PWD/tests/python \
    PYTHONPYCACHEPREFIX=$PWD/${OBJ#"$PWD"/}/pycache exec python3 tests/python/run.py
