#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the scripts of the fuzz targets in a folder with one target, fuzz_x, that is a script: a target that is missing,
# fails or executes nothing, a failure of seeds.sh, and seeds that the target ignores are failures.
set -u
cd "$(dirname "$0")/../.." || exit 1

here=$PWD passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests/fuzz" "$work/obj/tests/fuzz" "$work/fixtures"
cp tests/fuzz/fuzz.sh tests/fuzz/replay.sh "$work/tests/fuzz"
cd "$work" || exit 1

# expect STATUS WHAT COMMAND...: the exit status of the command, 0 or 1 for any other.
expect() {
    wanted=$1 what=$2
    shift 2
    status=0
    OBJ=obj "$@" >log 2>&1 || status=1
    if [ $status = "$wanted" ]; then passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED  $what: status $status"
        cat log
    fi
}
target() { # LINE...: the program fuzz_x
    { echo '#!/bin/sh'; printf '%s\n' "$@"; } >obj/tests/fuzz/fuzz_x
    chmod +x obj/tests/fuzz/fuzz_x
}

echo 'enum { MAX_SIZE = 8 };' >tests/fuzz/fuzz_x.c
echo 'mkdir -p "$2"; echo seed >"$2/seed"' >tests/fuzz/seeds.sh
expect 1 'fuzz.sh without the program' sh tests/fuzz/fuzz.sh fuzz_x
expect 1 'replay.sh without the program' sh tests/fuzz/replay.sh
target 'echo stat::number_of_executed_units: 0'
expect 1 'fuzz.sh, nothing executed' sh tests/fuzz/fuzz.sh fuzz_x
target 'echo stat::number_of_executed_units: 5; exit 77'
expect 1 'fuzz.sh, the target fails' sh tests/fuzz/fuzz.sh fuzz_x
target 'echo stat::number_of_executed_units: 5' 'exit 0'
expect 0 'fuzz.sh' sh tests/fuzz/fuzz.sh fuzz_x
expect 0 'replay.sh' sh tests/fuzz/replay.sh
echo 'mkdir -p "$2"; echo seed >"$2/seed"; exit 1' >tests/fuzz/seeds.sh
expect 1 'fuzz.sh, seeds.sh fails' sh tests/fuzz/fuzz.sh fuzz_x
expect 1 'replay.sh, seeds.sh fails' sh tests/fuzz/replay.sh
true >tests/fuzz/seeds.sh
expect 1 'replay.sh without seeds' sh tests/fuzz/replay.sh

cp "$here/tests/fuzz/seeds.sh" tests/fuzz
cp "$here/tests/fuzz/fuzz_list.c" tests/fuzz
expect 0 'seeds.sh' sh tests/fuzz/seeds.sh fuzz_list seeds
cp tests/fuzz/fuzz_x.c tests/fuzz/fuzz_list.c
expect 1 'seeds.sh, a seed is too long' sh tests/fuzz/seeds.sh fuzz_list seeds

# What fuzz_config begins with is predicted, except for the table with mistakes.
cd "$here" || exit 1
sh tests/fuzz/seeds.sh fuzz_config "$work/config"
for seed in "$work"/config/*; do
    sed '/^====$/,$d' "$seed" >"$work/input.shapes"
    sed '1,/^====$/d' "$seed" >"$work/config.json"
    table=$(sed -n 's/^table \([a-z0-9_]*\).*/\1/p' "$work/input.shapes" | head -n 1)
    wanted=0
    [ "$table" != mistakes ] || wanted=1
    cd "$work" || exit 1
    expect $wanted "$seed" "${SHAPEPROOF:-$here/build/shapeproof}" predict "$table" -T input.shapes --config config.json
    cd "$here" || exit 1
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
