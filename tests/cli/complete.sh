#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints what bash would offer to complete the last of the given words with; nothing but the expected answer is printed
# when there is no bash, so that only bash makes the test meaningful.
exec bash -c '. docs/man/shapeproof.bash
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_shapeproof
printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
