#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes a safetensors file to stdout: the given header (JSON), then as many zero bytes as its tensors need.
#
#   sh tests/cli/safetensors.sh '{"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}' 1
header=$1 data=$2
length=$(printf %s "$header" | wc -c)
# shellcheck disable=SC2059 # the format is the two low bytes of the length, as octal escapes
printf "$(printf '\\%03o\\%03o' $((length % 256)) $((length / 256)))\000\000\000\000\000\000"
printf %s "$header"
[ "$data" = 0 ] || head -c "$data" /dev/zero
