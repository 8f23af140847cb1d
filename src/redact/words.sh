#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the well-known words as C: sh words.sh TABLES SOURCES, two files that each list paths, one a line.
#
# A word is a run of ASCII letters and digits that begins with a letter. The words of names are those of the tables,
# without comments and messages, and those of string literals without a space in the modules that know names of files,
# tensors and metadata, such as "pytorch_model.bin". The words of messages are the others in string literals.
# src/redact/words.h declares the two lists.
set -eu
export LC_ALL=C

words_of() { grep -oE '[A-Za-z0-9]+' | grep '^[A-Za-z]' | sort -u; }

knows_names='^include/shapeproof/dtype\.h$\|^src/\(model\|read\|names\|config\|keras\|stored\|load\)/'

# Each string literal of the sources on a line of its own, without directives of printf and escapes.
literals() {
    xargs cat | grep -v '^ *#include' | grep -oE '"([^"\\]|\\.)*"' | sed 's/%[-+0-9.*]*[a-zA-Z]*//g; s/\\.//g'
}

# Of optimizers, adapters and the checkpoints of TensorFlow; no table and no such literal has these.
optimizers='adam adamw sgd exp avg sq momentum momentums velocity velocities iterations iteration learning rate slot'
adapters='hada lokr loha magnitude'
tensorflow='VARIABLE VALUE ATTRIBUTES CHECKPOINTABLE OBJECT GRAPH Variable'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
    # Every second field of a line is a string, which is a message if it has several words.
    xargs cat <"$1" | sed 's/^#.*//; s/ #.*//' |
        awk -F '"' '{ for (i = 1; i <= NF; i++) if (i % 2 || $i !~ /[a-z,] [a-z]/) print $i }'
    grep "$knows_names" "$2" | literals | grep -v ' '
    echo "$optimizers $adapters $tensorflow"
} | words_of >"$folder/names"
literals <"$2" | words_of | comm -13 "$folder/names" - >"$folder/messages"

echo '/* Made by src/redact/words.sh. */'
echo '#include "redact/words.h"'
for list in names messages; do
    echo
    echo "const char sp_redact_${list}[] = \"\""
    sed 's/.*/    "&\\0"/' "$folder/$list"
    echo '    ;'
done
