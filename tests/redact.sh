#!/bin/sh
# SPDX-License-Identifier: MIT
# `inspect --redact` shows nothing of a secret, wherever a checkpoint has it: every fixture is read with a secret in
# place of common words, and a few checkpoints have a secret in every place where a file can carry text.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/cli/harness.sh

# Every secret contains this, and nothing else does.
mark=zqxj

# hides FILE: the mark is not in it.
hides() { [ -e "$1" ] && ! grep -aoi ".\{0,60\}$mark.\{0,20\}" "$1"; }

# shows LEAST FILE: the mark is on at least so many lines, so that the tests do test something.
shows() { [ "$(grep -aci "$mark" "$2")" -ge "$1" ]; }

# every_view KIND PATH...: in each format and view.
every_view() {
    kind=$1
    shift
    shapeproof inspect "$@" >"$work/plain" 2>&1
    expect "$kind without --redact shows secrets" shows 2 "$work/plain"
    for view in '' --json '--format jsonl' '--format csv' --tree '-d 2' --totals --offsets '--by module' \
        '--by layer,dtype' '--by shard' '--by module --json' '--by module --format csv' '--sort name' --strict; do
        # shellcheck disable=SC2086 # a view is words
        shapeproof inspect --redact $view "$@" >"$work/view" 2>&1
        expect "$kind: $view shows no secret" hides "$work/view"
    done
    for path in "$@"; do
        shapeproof inspect --redact --format html "$path" >"$work/view" 2>&1
        expect "$kind: --format html shows no secret" hides "$work/view"
    done
}

# ---- every fixture ----

# Words of the same length, so that the files stay what they are where no checksum is in the way.
places="$work/$mark-folder"
mkdir "$places"
count=0
for file in $(find fixtures -type f -size -200k ! -name '*.py' ! -name '*.md' ! -name '*.shapes' ! -name '*.txt' \
    ! -path 'fixtures/net/*' | LC_ALL=C sort); do
    count=$((count + 1))
    LC_ALL=C sed "s/weight/${mark}we/g; s/kernel/${mark}ke/g; s/model/${mark}m/g; s/layer/${mark}l/g; s/posix/${mark}p/g
                  s/system/${mark}sy/g; s/bias/$mark/g; s/shape/${mark}s/g; s/numpy/${mark}n/g; s/keras/${mark}k/g" \
        "$file" >"$places/$mark-$count-${file##*/}"
done
shapeproof inspect "$places"/* >"$work/plain" 2>&1
expect "the fixtures without --redact shows secrets" shows 1000 "$work/plain"
for format in text json csv; do
    shapeproof inspect --redact --format "$format" "$places"/* >"$work/view" 2>&1
    expect "a fixture as $format shows no secret" hides "$work/view"
done
rm -r "$places"

# ---- every place ----

# safetensors: names, keys and values of the metadata, in JSON, too; names of files and folders, with quotes
folder=$work/$mark/the_Zqxj_project
mkdir -p "$folder"
make_safetensors "{\"__metadata__\": {\"format\": \"$mark\", \"$mark.author\": \"7\", \"note\": \"a $mark b\",
\"config\": \"{\\\"n_layer\\\": 2, \\\"$mark\\\": [1, \\\"$mark x\\\", {\\\"model\\\": \\\"$mark'\\\"}]}\",
\"open\": \"{\\\"$mark\\\"\"}, \"model.${mark}_head.3.weight\": {\"dtype\": \"F32\", \"shape\": [1],
\"data_offsets\": [0, 4]}, \"$mark's 'x' .bias\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 8]}}" 8 \
    >"$folder/$mark's model.safetensors"
every_view 'a safetensors file' "$folder/$mark's model.safetensors"

# shards: an index that names absent shards, tensors that are not there, a total that is not a number
sharded="$work/$mark-sharded"
mkdir "$sharded"
make_safetensors "{\"$mark.a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}" 4 \
    >"$sharded/$mark-00001-of-00002.safetensors"
cat >"$sharded/model.safetensors.index.json" <<END
{"metadata": {"total_size": "$mark", "$mark": "$mark"}, "weight_map": {"$mark.a": "$mark-00001-of-00002.safetensors",
 "$mark.b": "$mark-00002-of-00002.safetensors", "$mark.c": "$mark-00001-of-00002.safetensors"}}
END
echo "{\"quantization_config\": {\"quant_method\": \"$mark\"}, \"model_type\": \"$mark\"}" >"$sharded/config.json"
every_view 'a sharded checkpoint' "$sharded"

# a pipeline of several models
pipeline="$work/${mark}-pipeline"
mkdir -p "$pipeline/$mark" "$pipeline/unet"
cp "$sharded/$mark-00001-of-00002.safetensors" "$pipeline/$mark/model.safetensors"
cp "$pipeline/$mark/model.safetensors" "$pipeline/unet/diffusion_pytorch_model.safetensors"
echo "{\"_class_name\": \"$mark\", \"$mark\": [\"$mark\", \"$mark\"], \"unet\": [\"diffusers\", \"$mark\"],
\"${mark}2\": [\"diffusers\", \"$mark\"]}" >"$pipeline/model_index.json"
for format in text json html; do
    shapeproof inspect --redact --format "$format" "$pipeline" >"$work/view" 2>&1
    expect "a pipeline as $format shows no secret" hides "$work/view"
done

# ---- errors ----

make_safetensors "{\"$mark\": {\"dtype\": \"$mark\", \"shape\": [1], \"data_offsets\": [0, 4]}}" 4 >"$folder/bad"
make_safetensors "{\"$mark\": {\"$mark\": \"$mark\"}}" 0 >"$folder/worse.safetensors"
echo "{\"$mark\": 1}" >"$folder/$mark.index.json"
for words in "$folder/bad" "$folder/worse.safetensors" "$folder/$mark.index.json" "$folder/$mark-absent.pt" \
    "$mark-absent.safetensors" "$folder" "hf://$mark/$mark --offline" "https://$mark.invalid/$mark.pt --offline" \
    "$folder/bad --sort $mark" "--$mark $folder/bad" "$folder/bad -o $folder/absent/$mark" "x --by $mark" \
    "x --query $mark" "--format $mark x"; do
    for format in '' --json; do
        # shellcheck disable=SC2086 # words of a command line
        shapeproof inspect --redact $format $words >"$work/view" 2>&1
        expect "the error of $words $format shows no secret" hides "$work/view"
    done
done
for file in bad worse.safetensors "$mark.index.json" "$mark-absent.pt"; do
    shapeproof inspect --redact --json "$folder/$file" >"$work/view" 2>&1
    expect "the error of $file shows no secret" hides "$work/view"
done

conclude
