# bash completion for shapeproof. Written by 'shapeproof help --completion bash'.
_shapeproof() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=
    if [[ $COMP_CWORD == 1 ]]; then
        COMPREPLY=($(compgen -W 'inspect help --help --version' -- "$word"))
        return
    fi
    # bash splits --sort=name into three words
    [[ $word == = ]] && word= || { [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}; }
    case $command:$before in
    inspect:--depth|inspect:-d) COMPREPLY=() ;;
    inspect:--sort|inspect:-s) COMPREPLY=($(compgen -W 'file name size' -- "$word")) ;;
    inspect:--filter|inspect:-f) COMPREPLY=() ;;
    inspect:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    help:help) COMPREPLY=($(compgen -W 'inspect help ' -- "$word")) ;;
    *)
        if [[ $word != -* ]]; then
            COMPREPLY=($(compgen -f -- "$word"))
            return
        fi
        case $command in
        inspect) words='--tree --depth= --totals --sort= --filter= --json --color= --help' ;;
        help) words='--help' ;;
        esac
        COMPREPLY=($(compgen -W "$words" -- "$word"))
        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
        ;;
    esac
}
complete -o filenames -F _shapeproof shapeproof
