#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks a list on several machines with GNU parallel. The machines see the same files under the same paths.
#
#   sh fleet_parallel.sh paths.txt DIRECTORY [HOST,HOST...]
#
# Run it again to continue after an interruption: each piece has its own results, and finished checkpoints are skipped.
set -eu
list=$(realpath "$1")
mkdir -p "$2"
cd "$2"
[ -e piece.000 ] || split --numeric-suffixes --suffix-length=3 --number=l/100 "$list" piece.
find "$PWD" -name 'piece.???' -size +0 | sort |
    parallel --jobs 1 --sshlogin "${3:-:}" --workdir "$OLDPWD" \
        'shapeproof check --list {} --resume {}.jsonl 2>{}.log; test $? -le 5 -a $? -ne 2'
cat piece.???.jsonl >results.jsonl
