#!/bin/sh
# SPDX-License-Identifier: MIT
# The hook of pre-commit: checks the checkpoints that changed files belong to, and prints the reports of those that
# fail.
#
#   check.sh [OPTION]... [FILE]...      OPTION: of `shapeproof check`, such as --strict or --for=transformers
#
# A GGUF or Keras file contains its configuration and is checked itself. Every other file stands for its folder, which
# is checked once. A folder that has a configuration and no weights, or weights and no configuration, cannot be checked
# and is left out. The exit status is 1 if a check fails.
set -u

command -v shapeproof >/dev/null || { echo "shapeproof is not installed: docs/install.md says how"; exit 1; }

is_checkpoint() { # FOLDER
    [ -f "$1/config.json" ] || return 1
    for weights in "$1"/*.safetensors "$1"/*.bin "$1"/*.index.json; do
        [ -f "$weights" ] && return 0
    done
    return 1
}

# The paths to check of the files that follow the options.
paths() {
    for file in "$@"; do
        folder=$(dirname -- "$file")
        case $file in
        -*) ;;
        *.gguf | *.keras) echo "$file" ;;
        *) is_checkpoint "$folder" && echo "$folder" ;;
        esac
    done | sort -u
}

list=$(paths "$@")
count=$#
for argument in "$@"; do # keeps the options
    case $argument in -*) set -- "$@" "$argument" ;; esac
done
shift "$count"

status=0
while IFS= read -r path; do
    [ -n "$path" ] || continue
    if report=$(shapeproof check "$@" -- "$path" 2>&1); then continue; fi
    case $report in
    shapeproof:*) printf '%s\n' "$report" ;; # names the file
    *) printf '%s: %s\n' "$path" "$report" ;;
    esac
    status=1
done <<END
$list
END
exit $status
