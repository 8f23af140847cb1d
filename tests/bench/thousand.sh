#!/bin/sh
# SPDX-License-Identifier: MIT
# Links DIR/shapeproof, the command with 1,000 tables of its own besides the built-in ones, to see that what a command
# does not need costs it nothing.
#
#   OBJ=build/release CC=cc sh tests/bench/thousand.sh DIR
set -eu
dir=$1
mkdir -p "$dir/text"
awk -v dir="$dir/text" 'BEGIN {
    for (i = 0; i < 1000; i++) {
        file = dir "/bench_" i ".shapes"
        printf "# A decoder like many others, number %d.\ntable bench_%d\nmodel_type \"bench-%d\"\n\n", i, i, i >file
        print "V = vocab_size\nH = hidden_size\nL = num_hidden_layers\nA = num_attention_heads" >file
        print "K = num_key_value_heads default A\nD = head_dim default H // A\nI = intermediate_size" >file
        print "tied = tie_word_embeddings default true\n" >file
        print "[embedding]\nmodel.embed_tokens.weight (V, H)\n\n[attention] for i in 0..L-1" >file
        print "model.layers.{i}.input_layernorm.weight (H)" >file
        print "model.layers.{i}.self_attn.* grouped_attention(H, A, K, D)\n\n[feed-forward] for i in 0..L-1" >file
        print "model.layers.{i}.post_attention_layernorm.weight (H)\nmodel.layers.{i}.mlp.* gated_mlp(H, I)\n" >file
        print "[final norm]\nmodel.norm.weight (H)\n\n[head]" >file
        print "lm_head.weight (V, H) same as model.embed_tokens.weight when tied" >file
        close(file)
    }
}'
find src/tables "$dir/text" -name '*.shapes' | sort | LC_ALL=C xargs awk -f src/tables/embed.awk >"$dir/tables.c"
${CC:-cc} -O2 -fPIC -Isrc -c "$dir/tables.c" -o "$dir/tables.o"
# shellcheck disable=SC2046 # the names of objects and libraries are words; tables.o comes before the archive's own
${CC:-cc} $(find "$OBJ/src/cli" -name '*.o') "$dir/tables.o" "$OBJ/libshapeproof.a" $(cat "$OBJ/command.libs") \
    -o "$dir/shapeproof"
