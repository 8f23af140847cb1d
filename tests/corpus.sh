#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds `inspect` against a corpus of real checkpoints whose contents are known, and of hostile files.
#
#   SHAPEPROOF_CORPUS=DIR sh tests/corpus.sh       (skipped without it)
#
# DIR/tools/check_inspect.py BINARY --format FORMAT... compares, and ends with "N of M files exact".
set -u

corpus=${SHAPEPROOF_CORPUS-}
checker=$corpus/tools/check_inspect.py
if [ -z "$corpus" ] || [ ! -f "$checker" ] || ! command -v python3 >/dev/null; then
    echo "[  SKIPPED ] no corpus"
    echo "0 passed, 0 failed"
    exit 0
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
formats=
for format in safetensors torch-zip keras-hdf5 keras-weights keras-zip hdf5 hostile; do
    formats="$formats --format $format"
done
# shellcheck disable=SC2086 # options are words
python3 "$checker" "${SHAPEPROOF:-build/shapeproof}" $formats >"$log"
cat "$log"
awk '/^[0-9]+ of [0-9]+ files exact$/ { print $1 " passed, " $3 - $1 " failed"; seen = 1; bad = $3 - $1 }
     END { exit !seen || bad > 0 }' "$log"
