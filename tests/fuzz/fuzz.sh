#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzzes each target for FUZZ_SECONDS, starting from the fixtures. What it finds stays in $OBJ/corpus/TARGET; an input
# that breaks something is left there as crash-*, to become a fixture. HDF5 has 5 seconds of its own for a file,
# hence the 30.
set -eu

for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    corpus=$OBJ/corpus/$name
    mkdir -p "$corpus"
    # shellcheck disable=SC2046 # fixture folders have no spaces
    "$OBJ/tests/fuzz/$name" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=30 -rss_limit_mb=1024 -max_len=65536 \
        -artifact_prefix="$corpus/" "$corpus" $(find fixtures -type d)
done
