# SPDX-License-Identifier: MIT
# Prints what zsh would offer to complete the given line with, one to a line: zsh tests/cli/complete.zsh LINE. An
# interactive zsh runs in a pseudo-terminal; its compadd prints what is added instead of showing it.
zmodload zsh/zpty || exit 77
folder=$(mktemp -d)
trap 'rm -rf $folder' EXIT
cp docs/man/shapeproof.zsh $folder/_shapeproof
cat >$folder/setup <<'END'
PROMPT=
autoload -Uz compinit
compinit -u -D
bindkey '^I' complete-word
begin() { echo -E - $'\0' }
compprefuncs=(begin)
comppostfuncs=(begin exit)
zstyle ':completion:*' list-prompt ''
compadd() {
    local -a found
    local word
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    builtin compadd -A found "$@"
    for word in $found; do echo -E - $word; done
}
echo ready
END
zpty z zsh -f -i
zpty -w z "fpath=($folder \$fpath); source $folder/setup"
repeat 20; do
    zpty -r z line '*'$'\n' || exit 1
    [[ $line == ready* ]] && break
done
zpty -w -n z "$1"$'\t'
parts=0
while zpty -r z line '*'$'\n'; do
    line=${${line%$'\n'}%$'\r'}
    if [[ $line == *$'\0' ]]; then
        (( ++parts == 2 )) && break
    elif (( parts )); then
        print -r -- $line
    fi
done
zpty -d z
