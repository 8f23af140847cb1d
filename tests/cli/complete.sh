#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints what bash would offer to complete the last of the given words with, one to a line.
exec bash -c '. docs/man/shapeproof.bash
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_shapeproof
printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
