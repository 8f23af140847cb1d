#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the seeds of a fuzz target into a folder, made from the fixtures: sh seeds.sh TARGET FOLDER. Targets whose
# inputs are whole files need none: for them it prints the folders of the fixtures that they begin with. A seed that is
# longer than the MAX_SIZE of the target is an error, because the target would ignore it.
set -eu

target=$1 folder=$2
mkdir -p "$folder"

# seed NAME TEXT...: a seed of texts with lines "====" between them.
seed() {
    name=$folder/$1
    shift
    printf '%s' "$1" >"$name"
    shift
    for text in "$@"; do printf '\n====\n%s' "$text" >>"$name"; done
}

# header FILE: the header of a safetensors file.
header() {
    length=$(od -An -tu4 -N4 "$1" | tr -d ' ')
    tail -c +9 "$1" | head -c "$length"
}

folders() { # of the fixtures that have such a file
    for ending in "$@"; do find fixtures -type f -name "*$ending" -size -64k; done | sed 's|/[^/]*$||' | sort -u
}

case $target in
fuzz_tables)
    cp fixtures/tables/*.shapes docs/examples/*.shapes "$folder"
    find src/tables -name '*.shapes' -size -2k -exec cp {} "$folder" \; ;;
fuzz_config)
    seed claims "$(cat fixtures/tables/claims.shapes)" \
        '{"width": 6, "first": 2, "layers": 3, "sizes": [5, 7], "tie": true}'
    seed mistakes "$(cat fixtures/tables/mistakes.shapes)" '{"width": 4}'
    seed needs "$(cat fixtures/tables/needs.shapes)" '{"width": 4, "layers": 2, "vocabulary": 9}'
    seed two-layers "$(cat fixtures/tables/two-layers.shapes)" '{"width": 8}'
    seed gpt2 "$(cat src/tables/text/gpt2.shapes)" "$(cat fixtures/models/tiny-gpt2/config.json)"
    seed resnet "$(sed '/^table rt_detr_resnet/,$d' src/tables/vision/resnet.shapes)" '{
        "architectures": ["ResNetForImageClassification"],
        "hidden_sizes": [16, 32], "depths": [1, 2], "embedding_size": 8, "layer_type": "basic"}' ;;
fuzz_check | fuzz_infer) # of the table in tests/fuzz/small_table.h
    config='{"vocab_size": 50, "n_embd": 8, "n_layer": 2, "tie_word_embeddings": false}'
    tensors=$(printf 'wte 50 8\nlm_head 50 8\n'; for i in 0 1; do printf "h.$i.attn 8 24\nh.$i.fc 8 32\n"; done)
    wrong=$(printf 'a.wte 50 8\nh.0.attn 24 8\nh.0.fc 8 30\nh.2.fc 8 32\n')
    case $target in
    fuzz_infer) seed right "$tensors" && seed wrong "$wrong" ;;
    *) seed right "$config" "$tensors" && seed wrong "$config" "$wrong" ;;
    esac ;;
fuzz_learn)
    seed two '{"hidden_size": 4, "num_layers": 1, "vocab_size": 10}' \
        "$(printf 'wte 10 4\nh.0.up.weight 16 4\nh.0.up.bias 16\n')" \
        '{"hidden_size": 6, "num_layers": 2, "vocab_size": 11}' \
        "$(printf 'wte 11 6\nh.0.up.weight 24 6\nh.0.up.bias 24\nh.1.up.weight 24 6\nh.1.up.bias 24\n')" ;;
fuzz_claims | fuzz_eval)
    if [ $target = fuzz_claims ]; then
        grep -h '^ *claim ' docs/examples/*.shapes src/tables/text/*.shapes | sed 's/^ *//' | sort -u | head -n 60
    else
        printf '%s\n' '[embedding] / total' 'total(vocab_size = 128000) - total' 'active' \
            'cache(tokens = 4096, dtype = bf16)' 'bytes(bf16)' 'bytes(as stored)' \
            'lora(rank = 16, targets = [q_proj])' 'optimizer(adam, zero = 3, ranks = 8)' \
            'flops(tokens = 4096, batch = 1)' '2^10 // 3 % 7' 'sum(i, 0, 9, i*E)' \
            'E if N > 3 else -1' 'not tied and V*E > 0'
    fi | awk -v folder="$folder" '{ print >(folder "/line-" NR) }' ;;
fuzz_hpm) folders .hpm ;;
fuzz_expect)
    printf '%s\n' '# expected' 'missing lm_head.*  # tied' \
        'shape h.*.attn.bias until 2026-06-01 # an old buffer' '* h.{2-4,7}.?.weight  # some of them' \
        >"$folder/lines" ;;
fuzz_list)
    printf '%s\n' '# a list' 'fixtures/models/tiny-gpt2' './#odd' ' blank' >"$folder/paths"
    printf '%s\n' '{"schema": "shapeproof.check/1", "path": "a", "status": 0, "verdict": "match"}' \
        '{"schema": "shapeproof.check/1", "path": "b", "status": 4, "error": "no", "kind": "io"}' >"$folder/results" ;;
fuzz_index)
    tensors=$(header fixtures/models/tiny-llama/model.safetensors)
    seed two '{"metadata": {"total_size": 8}, "weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}' \
        '{"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}' \
        '{"__metadata__": {"a": "b"}, "y": {"dtype": "F16", "shape": [2, 1], "data_offsets": [0, 4]}}'
    seed llama '{"weight_map": {"model.norm.weight": "a.safetensors", "lm_head.weight": "a.safetensors"}}' "$tensors" ;;
fuzz_tokenizer)
    printf '%s' '{"added_tokens": [{"id": 5, "content": "[PAD]"}], "model": {"vocab": {"a": 1, "b": 2}}}' \
        >"$folder/json"
    printf '%s' '{"model": {"vocab": [["a", -1.5], ["b", -2]]}}' >"$folder/scores"
    printf '%s' '{"added_tokens_decoder": {"32000": {"content": "[PAD]"}}, "[PAD]": 32000}' >"$folder/decoder" ;;
fuzz_keras)
    folders .keras model.json config.json ;;
fuzz_hdf5) folders .h5 .keras ;;
fuzz_hdf5_wire)
    printf '\010\003\000\000\000\000' >"$folder/failure" # without a message
    printf '\010\003\002\000\000\000no' >"$folder/message"
    { # a tensor "a/b" of shape (2), F32, and the end
        printf '\001\003\000\000\000a/b\002\000\000\000\000\000\001\002\000\000\000\000\000\000\000'
        printf '\100\000\000\000\000\000\000\000\200\000\000\000\000\000\000\000'
        printf '\010\000\000\000\000\000\000\000\011'
    } >"$folder/tensor" ;;
fuzz_json) folders .json ;;
fuzz_yaml) folders .yaml .yml ;;
fuzz_net | fuzz_ranks) echo fixtures/net ;;
*) find fixtures -type d ;;
esac

most=$(sed -n 's/.*\<MAX_SIZE = \([0-9]*\).*/\1/p' "tests/fuzz/$target.c")
long=$(find "$folder" -type f -size "+${most:-1048576}c")
[ -z "$long" ] || { echo "seeds.sh: $target takes at most $most bytes:" $long >&2; exit 1; }
