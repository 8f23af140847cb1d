#!/bin/sh
# SPDX-License-Identifier: MIT
# Completion in the real shells: what bash, zsh and fish offer behind a command line. A shell that is not installed is
# skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/cli/harness.sh

skip() { echo "[  SKIPPED ] $1"; }

# What a shell offers, one to a line, without descriptions: offers SHELL LINE.
# shellcheck disable=SC2016
offers() {
    shell=$1 line=$2
    case $shell in
    bash) # as readline does, words are split at blanks and around "="
        # shellcheck disable=SC2046
        set -- $(printf '%s' "$line" | sed 's/=/ = /g')
        [ "$line" = "${line% }" ] || set -- "$@" ''
        sh tests/cli/complete.sh "$@" ;;
    zsh) zsh tests/cli/complete.zsh "$line" ;;
    fish) HOME=$tmp fish --no-config -c 'source docs/man/shapeproof.fish; complete -C $argv' "$line" | cut -f 1 ;;
    esac
}

# expect SHELL LINE WORD...: these are offered, among others.
expect() {
    shell=$1 line=$2
    offers "$shell" "$line" >"$work/offered" 2>&1
    shift 2
    for word; do
        # fish offers the whole of --sort=name
        if grep -qxF -e "$word" -e "${line##* }$word" "$work/offered"; then passed=$((passed + 1)); else
            failed=$((failed + 1))
            echo "FAILED: $shell: '$line' does not offer '$word', but:"
            head -n 8 "$work/offered"
        fi
    done
}

# refuse SHELL LINE WORD: this is not offered.
refuse() {
    offers "$1" "$2" >"$work/offered" 2>&1
    if ! grep -qF -e "$3" "$work/offered"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $1: '$2' offers '$3'"
    fi
}

for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        skip "completion in $shell: it is not installed"
        continue
    fi
    expect $shell 'shapeproof insp' inspect
    expect $shell 'shapeproof READ' README.md
    expect $shell 'shapeproof inspect --so' "$([ $shell = bash ] && echo --sort= || echo --sort)"
    expect $shell 'shapeproof inspect --sort=' file name size
    expect $shell 'shapeproof inspect -s ' file name size
    refuse $shell 'shapeproof inspect -s ' README.md
    expect $shell 'shapeproof inspect --format ht' html
    refuse $shell 'shapeproof inspect --format R' README.md
    case $shell in fish) whole=--format=html=README.md ;; *) whole=README.md ;; esac
    expect $shell 'shapeproof inspect --format html=READ' "${whole#--format=}"
    expect $shell 'shapeproof inspect --format=html=READ' $whole
    expect $shell 'shapeproof README.md --tot' --totals
    expect $shell 'shapeproof inspect READ' README.md
    expect $shell 'shapeproof predict gpt2-' gpt2-xl
    expect $shell 'shapeproof predict ber' bert
    refuse $shell 'shapeproof predict READ' README.md
    expect $shell 'shapeproof prove gpt' gpt2 gpt1
    expect $shell 'shapeproof derive --model gpt2-' gpt2-xl
    expect $shell 'shapeproof check --table gpt' gpt2
    expect $shell 'shapeproof check --table READ' README.md
    expect $shell 'shapeproof check --config READ' README.md
    refuse $shell 'shapeproof solve --total READ' README.md
    expect $shell 'shapeproof help der' derive
    refuse $shell 'shapeproof help --' --completion
done

# Tables of the user's are offered too.
mkdir "$tmp/own"
sed 's/^table .*/table my_own_table/' docs/lstm.shapes >"$tmp/own/mine.shapes"
for shell in bash zsh fish; do
    command -v $shell >/dev/null || continue
    export SHAPEPROOF_TABLES="$tmp/own"
    expect $shell 'shapeproof predict my_' my_own_table
done
conclude
