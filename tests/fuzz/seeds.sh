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

# pack NAME FOLDER BYTES [FILTER...]: a seed that is a folder (tests/fuzz/folder.h), with the files that `find` finds
# there; longer ones than that are cut.
pack() {
    name=$folder/$1 base=$2 bytes=$3 separator=
    shift 3
    [ $# -gt 0 ] || set -- -name "*"
    find "$base" -type f \( "$@" \) | LC_ALL=C sort | while read -r file; do
        printf '%b%s\n' "$separator" "${file#"$base"/}"
        case $file in
        *.safetensors) header "$file" ;;
        *) head -c "$bytes" "$file" ;;
        esac
        separator='\n====\n'
    done >"$name"
}

# pair NAME A B: a seed of two files.
pair() { { cat "$2" && printf '\n====\n' && cat "$3"; } >"$folder/$1"; }

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
fuzz_card)
    tensors=$(printf 'wte 50 8\nh.0.attn 8 24\nlm_head.weight 50 8\nh.0.fc 8 32\n')
    seed plain "$(printf '# A model\n\nIt has 1.7K parameters, 400 of them in the embedding.\n')" "$tensors"
    seed metadata "$(printf '%s\n' --- 'license: mit' 'model_size: 2K' --- '# small' 'A model of 1,744 parameters.' \
        '```python' 'n = "7B parameters"' '```' '| Params | 1.7 thousand |' \
        'Number of parameters: 0.002M, 1.3K non-embedding parameters' 'larger than 13 billion parameters')" "$tensors"
    seed peft "$(cat fixtures/runs/peft/out/checkpoint-4/README.md)" "$tensors" ;;
fuzz_components)
    tensors='{"x.weight": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}}'
    pack pipeline fixtures/adapters/pipeline 4096
    seed diffusers "$(printf '%s\n' model_index.json '{"_class_name": "StableDiffusionControlNetPipeline",
        "controlnet": ["diffusers", "MultiControlNetModel"], "unet": ["diffusers", "UNet2DConditionModel"],
        "scheduler": ["diffusers", "PNDMScheduler"], "safety_checker": [null, null], "tiled": true}')" \
        "$(printf '%s\n' unet/config.json '{"_class_name": "UNet2DConditionModel"}')" \
        "$(printf '%s\n' unet/diffusion_pytorch_model.safetensors "$tensors")" \
        "$(printf '%s\n' controlnet/diffusion_pytorch_model.safetensors "$tensors")" \
        "$(printf '%s\n' controlnet_1/diffusion_pytorch_model.safetensors "$tensors")" \
        "$(printf '%s\n' scheduler/scheduler_config.json '{}')" \
        "$(printf '%s\n' vae/diffusion_pytorch_model.safetensors "$tensors")"
    seed modular "$(printf '%s\n' modular_model_index.json '{"unet": ["diffusers", "UNet2DConditionModel",
        {"subfolder": "unet", "type_hint": ["diffusers", "UNet2DConditionModel"], "repo": "org/name"}],
        "vae": [null, null, {"type_hint": ["diffusers", "AutoencoderKL"], "subfolder": "vae"}]}')" \
        "$(printf '%s\n' unet/diffusion_pytorch_model.safetensors "$tensors")"
    seed modules "$(printf '%s\n' modules.json '[
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Router", "type": "sentence_transformers.models.Router"},
        {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}]')" \
        "$(printf '%s\n' 1_Router/router_config.json \
            '{"types": {"query_0_Dense": "sentence_transformers.models.Dense"}, "structure": {}}')" \
        "$(printf '%s\n' 1_Router/query_0_Dense/model.safetensors "$tensors")" \
        "$(printf '%s\n' 2_Dense/config.json '{"in_features": 2, "out_features": 1}')" \
        "$(printf '%s\n' 2_Dense/model.safetensors "$tensors")" \
        "$(printf '%s\n' model.safetensors "$tensors")"
    seed shards "$(printf '%s\n' model-00001-of-00002.safetensors "$tensors")" \
        "$(printf '%s\n' model-00002-of-00002.safetensors "$tensors")" ;;
fuzz_run) # few files, since it takes longer to make a file than to look at it
    for run in accelerate dcp detectron2 fairseq lightning peft timm transformers; do
        pack $run fixtures/runs/$run 200 ! -name README.md ! -name training_args.bin ! -name generation_config.json \
            ! -path '*transformers/checkpoint*/config.json' ! -path '*out/checkpoint-2/[st]*'
    done
    pack zero fixtures/resume/zero 200
    pack verl fixtures/resume/verl 200 ;;
fuzz_resume) # without random states and without the optimizers of whole models, which are long
    for run in lightning odd stage0 zero; do pack $run fixtures/resume/$run 16384; done
    for file in ema lacking; do pack $file fixtures/resume/average 16384 -name $file.pt; done
    for file in matrix none vector; do pack $file fixtures/resume/exchanged 16384 -name $file.pt; done
    pack flat fixtures/resume/flat 16384 ! -name 'extra_state*'
    pack numbered fixtures/resume/numbered 16384 ! -name optim_rank1.pt
    pack torchtitan fixtures/resume/titan/step-3 16384 -name .metadata
    pack accelerate fixtures/resume/accelerate 16384 ! -name 'random*' ! -name optimizer.bin
    pack lora fixtures/resume/lora/checkpoint-4 16384 ! -name 'rng*' ! -name training_args.bin
    pack trainer fixtures/resume/trainer/checkpoint-4 16384 -name '[mst]*.*' ! -name training_args.bin -o \
        -name config.json ;;
fuzz_adapter)
    for adapter in fixtures/adapters/described/*/; do
        seed "$(basename "$adapter")" "$(cat "$adapter/base.json")" "$(cat "$adapter/adapter_config.json")" \
            "$(header "$adapter/adapter_model.safetensors")"
    done ;;
fuzz_solve)
    config='{"vocab_size": 50, "n_embd": 8, "n_layer": 2}'
    seed total "$config" 1296
    seed figure "$config" '1.3K group=embedding active'
    seed within "$config" '2000 within=2.5 at-most'
    seed together "$config" '5K free=n_layer,n_embd keep=n_inner/n_embd all'
    seed expression "$config" "$(printf '%s\n' '800 at-most' '2*[embedding] + V')" ;;
fuzz_fit)
    seed dense '{"model_type": "llama"}' "$(printf '%s\n' '1048576 100 2 0 bf16 int8' '5000 0 0 0' '9000 10 1 0 nf4')"
    seed window '{"model_type": "llama", "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 4,
        "sliding_window": 16}' "$(printf '%s\n' '4096 100 1 0 bf16' '20000 64 3 0 f32 fp8')"
    seed cross '{"model_type": "llama", "add_cross_attention": true}' '30000 100 1 7 int4' ;;
fuzz_redact)
    seed names "$(printf '%s\n' 'model.layers.0.acme.weight 2 3' 'model.layers.1.acme.weight 2 3' 'h123456.odd 7')" \
        "tensor 'acme.weight' has 4294967296 bytes: /home/jane/model.pt"
    seed value 'a.weight 1' '{"n_layer": 12, "author": "Jane", "sizes": [1, "pt", null]}' ;;
fuzz_browse)
    config='{"vocab_size": 50, "n_embd": 8, "n_layer": 3, "tie_word_embeddings": false}'
    tensors=$(printf 'wte 50 8\nlm_head 50 8\n'; for i in 0 1 2; do printf "h.$i.attn 8 24\nh.$i.fc 8 3$i\n"; done)
    seed check "$config" "$tensors" "$(printf '\201\203x\n/attn\nnNfFcq')"
    seed alone '' "$tensors" "$(printf 'smx\201\201\n?\205\206\207\210/h.1\033q')" ;;
fuzz_diff)
    cross=fixtures/cross
    for file in five.gguf five.pt; do pair $file $cross/five.safetensors $cross/$file; done
    for name in fp8 gptq hqq_4 int8 mlx_4 nf4 nvfp4 torchao_int4; do
        seed $name "$(header fixtures/dequantised/$name.safetensors)" "$(header fixtures/dequantised/full.safetensors)"
    done
    llama=$(header fixtures/models/tiny-llama/model.safetensors)
    seed llama "$llama" "$llama"
    find fixtures -type d -name ok
    for name in cross dequantised parametrised quantised stacks; do echo fixtures/$name; done ;;
fuzz_json) folders .json ;;
fuzz_yaml) folders .yaml .yml ;;
fuzz_net | fuzz_ranks) echo fixtures/net ;;
*) find fixtures -type d ;;
esac

most=$(sed -n 's/.*\<MAX_SIZE = \([0-9]*\).*/\1/p' "tests/fuzz/$target.c")
long=$(find "$folder" -type f -size "+${most:-1048576}c")
[ -z "$long" ] || { echo "seeds.sh: $target takes at most $most bytes:" $long >&2; exit 1; }
