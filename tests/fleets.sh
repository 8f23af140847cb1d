#!/bin/sh
# SPDX-License-Identifier: MIT
# Lists under way: interrupted, gone on with, without memory; and the recipes of docs/fleets.md, each with its engine
# where the machine has one. Slurm's is run as Slurm runs it, job by job, and submitted only where there is a cluster.
#
#   SHAPEPROOF=build/shapeproof sh tests/fleets.sh
#
# From the environment: SPARK_PYTHON, a Python that has pyspark (python3).
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/cli/harness.sh

root=$PWD
examples=$PWD/docs/examples
verdict_of_all='60 checkpoints: 30 match, 10 differs, 10 unknown, 10 unreadable'

expect() { # WHAT EXPECTED ACTUAL
    printf '%s\n' "$2" >"$work/expected"
    printf '%s\n' "$3" >"$work/actual"
    judge "$1" "$work/expected" "$work/actual"
}

skip() { echo "[  SKIPPED ] $1"; }

# 60 paths, in the directory "all".
mkdir "$work/all"
cd "$work/all" || exit 1
for i in 0 1 2 3 4 5 6 7 8 9; do
    cp -r "$root/fixtures/models/tiny-gpt2" "gpt2 $i"
    cp -r "$root/fixtures/models/tiny-llama" "llama$i"
    cp -r "$root/fixtures/models/tiny-bert" "bert$i"
    cp -r "$root/fixtures/models/tiny-llama" "deep$i"
    sed -i 's/"num_hidden_layers": [0-9]*/"num_hidden_layers": 7/' "deep$i/config.json"
    cp -r "$root/fixtures/docs/lstm" "lstm$i"
    mkdir "none$i"
done
printf '%s\n' "$PWD"/* >"$work/list"

counts() { # LINES: by verdict, as a run over what is done counts them
    head -n 1 "$work/list" | shapeproof check --list - --resume "$1" 2>&1 | sed 's/;.*//'
}

shapeproof check --list "$work/list" >"$work/out" 2>"$work/log"
expect "the status is the worst one" 4 $?
expect "counts" "$verdict_of_all" "$(cat "$work/log")"
cp "$work/out" "$work/done"
expect "counts of lines" "$verdict_of_all" "$(counts "$work/done")"

# Whatever the number of jobs, the lines are the same but for their order.
sort "$work/out" >"$work/sorted"
shapeproof check --list "$work/list" --jobs 7 2>"$work/log" | sort >"$work/actual"
judge "seven jobs" "$work/sorted" "$work/actual"

# Interrupted by a signal, and gone on with.
shapeproof check --list "$work/list" --resume "$work/part" --jobs 2 2>"$work/log" &
pid=$!
while [ ! -s "$work/part" ] && kill -0 $pid 2>/dev/null; do :; done
kill -TERM $pid 2>/dev/null
wait $pid
ended=$?
case $ended in
143) expect "an interrupted run says so" yes "$(grep -q 'not checked' "$work/log" && echo yes)" ;;
*) expect "a run that was faster than the signal" 4 $ended ;;
esac
shapeproof check --list "$work/list" --resume "$work/part" 2>"$work/log"
expect "all is done after a second run" "$verdict_of_all" "$(sed 's/;.*//' "$work/log")"
sort "$work/part" >"$work/actual"
judge "a run in two parts" "$work/sorted" "$work/actual"

# A process without memory is one result more; tests/fleet/test_pool.c has those that die of a signal.
limits="--core=0 --as=60000000"
# shellcheck disable=SC2086 # two options
if prlimit $limits shapeproof --version >"$work/log" 2>&1; then
    mkdir "$work/large"
    awk 'BEGIN { for (i = 0; i < 400000; i++)
        printf "%s\"layer.%d.weight\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}", i ? "," : "{", i
        printf "}" }' >"$work/header"
    bytes=$(wc -c <"$work/header" | awk '{ for (i = 0; i < 8; i++) { printf "\\%03o", $1 % 256; $1 = int($1 / 256) } }')
    # shellcheck disable=SC2059 # the length, as octal escapes
    { printf "$bytes"; cat "$work/header"; } >"$work/large/model.safetensors"
    cp "$root/fixtures/models/tiny-llama/config.json" "$work/large"
    # shellcheck disable=SC2086
    printf '%s\n' "$work/large" "$work/all/llama1" |
        prlimit $limits shapeproof check --list - --jobs 1 >"$work/out" 2>"$work/log"
    expect "no memory is status 4" 4 $?
    expect "no memory is counted" '2 checkpoints: 1 match, 1 unreadable' "$(cat "$work/log")"
    expect "and has a line" 1 "$(grep -c '"status": 4, "error": "out of memory"' "$work/out")"
else
    skip "a process without memory: no prlimit here, or a sanitizer that needs more memory than it leaves"
fi

# ---- the recipes ----

if command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q '^GNU'; then
    sh "$examples/fleet_parallel.sh" "$work/list" "$work/parallel" 2>"$work/log"
    expect "GNU parallel" "0 $verdict_of_all" "$? $(counts "$work/parallel/results.jsonl")"
    find "$work/parallel" -name 'piece.*.jsonl' | sort | head -n 1 | xargs rm
    sh "$examples/fleet_parallel.sh" "$work/list" "$work/parallel" 2>"$work/log"
    expect "GNU parallel, gone on with" "0 $verdict_of_all" "$? $(counts "$work/parallel/results.jsonl")"
else
    skip "GNU parallel: not on this machine"
fi

for job in 0 1 2; do
    SLURM_ARRAY_TASK_ID=$job SLURM_ARRAY_TASK_COUNT=3 SLURM_CPUS_PER_TASK=2 \
        sh "$examples/fleet.sbatch" "$work/list" "$work/jobs" 2>"$work/log"
    expect "the job script, job $job" 0 $?
done
cat "$work"/jobs/*.jsonl >"$work/out"
expect "the job script" "$verdict_of_all" "$(counts "$work/out")"
if command -v sbatch >/dev/null && sinfo -h -t idle 2>/dev/null | grep -q .; then
    sbatch --wait --output="$work/slurm.%a" --array=0-2 --mem-per-cpu=0 --cpus-per-task=1 "$examples/fleet.sbatch" \
        "$work/list" "$work/slurm" >"$work/log" 2>&1
    expect "Slurm" 0 $?
    cat "$work"/slurm/*.jsonl >"$work/out"
    expect "an array of Slurm" "$verdict_of_all" "$(counts "$work/out")"
else
    skip "sbatch: no Slurm cluster here; its job script was run without it"
fi

python=${SPARK_PYTHON:-python3}
if "$python" -c 'import pyspark' 2>/dev/null && command -v java >/dev/null; then
    PYSPARK_PYTHON=$python PYSPARK_DRIVER_PYTHON=$python PYSPARK_SUBMIT_ARGS='--master local[2] pyspark-shell' \
        "$python" "$examples/fleet_spark.py" "$work/list" "$work/parquet" >"$work/log" 2>"$work/errors"
    expect "Spark" 0 $?
    expect "Spark's counts" '|match|0|30| |differs|1|10| |NULL|4|10| |NULL|5|10|' \
        "$(grep '^|.*[0-9]|$' "$work/log" | tr -d ' ' | tr '\n' ' ' | sed 's/ $//')"
else
    skip "Spark: no pyspark with a Java on this machine (SPARK_PYTHON names a Python that has it)"
fi
conclude
