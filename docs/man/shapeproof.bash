# bash completion for shapeproof. Written by 'shapeproof help --completion bash'.
_shapeproof() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=
    local commands='browse card check derive diff eval fit fmt infer inspect learn models predict prove solve tables help '
    if [[ $COMP_CWORD == 1 ]]; then
        compopt -o filenames
        COMPREPLY=($(compgen -W "$commands --help --version" -- "$word"; compgen -f -- "$word"))
        return
    fi
    [[ " $commands " == *" $command "* ]] || command=inspect # shapeproof PATH
    # bash splits --sort=name into three words, and html=report.html too
    local split=
    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]} split=yes
    [[ $word == = ]] && word= split=yes
    [[ $split && $before != -* ]] && before+==
    case $command:$before in
    browse:--config|browse:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    browse:--model|browse:-m) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    browse:--set|browse:-S) COMPREPLY=() ;;
    browse:--table|browse:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    browse:--vocabulary) COMPREPLY=($(compgen -W 'sockeye nparam none' -- "$word")) ;;
    browse:--limit) COMPREPLY=() ;;
    browse:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    card:--config|card:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    card:--model|card:-m) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    card:--set|card:-S) COMPREPLY=() ;;
    card:--table|card:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    card:--vocabulary) COMPREPLY=($(compgen -W 'sockeye nparam none' -- "$word")) ;;
    card:--limit) COMPREPLY=() ;;
    card:--format) COMPREPLY=($(compgen -W 'text json jsonl markdown' -- "$word")) ;;
    card:text=|card:json=|card:jsonl=|card:markdown=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    card:--output|card:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    card:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    check:--config|check:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    check:--model|check:-m) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    check:--set|check:-S) COMPREPLY=() ;;
    check:--table|check:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    check:--vocabulary) COMPREPLY=($(compgen -W 'sockeye nparam none' -- "$word")) ;;
    check:--for) COMPREPLY=() ;;
    check:--fit) COMPREPLY=() ;;
    check:--tokens) COMPREPLY=() ;;
    check:--source-tokens) COMPREPLY=() ;;
    check:--batch) COMPREPLY=() ;;
    check:--cache-dtype) COMPREPLY=($(compgen -W 'f32 bf16 f16 fp8 int8 int4 nf4 fp4' -- "$word")) ;;
    check:--claims) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    check:--expect|check:-e) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    check:--limit) COMPREPLY=() ;;
    check:--list|check:-l) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    check:--resume) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    check:--jobs|check:-j) COMPREPLY=() ;;
    check:--timeout) COMPREPLY=() ;;
    check:--format) COMPREPLY=($(compgen -W 'text json jsonl markdown csv html sarif junit' -- "$word")) ;;
    check:text=|check:json=|check:jsonl=|check:markdown=|check:csv=|check:html=|check:sarif=|check:junit=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    check:--output|check:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    check:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    derive:--config|derive:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    derive:--model|derive:-m) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    derive:--set|derive:-S) COMPREPLY=() ;;
    derive:--table|derive:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    derive:--measure) COMPREPLY=($(compgen -W 'active cache flops activations' -- "$word")) ;;
    derive:--limit) COMPREPLY=() ;;
    derive:--format) COMPREPLY=($(compgen -W 'text json jsonl markdown' -- "$word")) ;;
    derive:text=|derive:json=|derive:jsonl=|derive:markdown=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    derive:--output|derive:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    derive:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    diff:--expect|diff:-e) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    diff:--by) COMPREPLY=() ;;
    diff:--rows|diff:-n) COMPREPLY=() ;;
    diff:--config|diff:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    diff:--set|diff:-S) COMPREPLY=() ;;
    diff:--table|diff:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    diff:--vocabulary) COMPREPLY=($(compgen -W 'sockeye nparam none' -- "$word")) ;;
    diff:--limit) COMPREPLY=() ;;
    diff:--format) COMPREPLY=($(compgen -W 'text json jsonl csv markdown html' -- "$word")) ;;
    diff:text=|diff:json=|diff:jsonl=|diff:csv=|diff:markdown=|diff:html=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    diff:--output|diff:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    diff:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    eval:--config|eval:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    eval:--model|eval:-m) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    eval:--set|eval:-S) COMPREPLY=() ;;
    eval:--table|eval:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    eval:--checkpoint|eval:-k) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    eval:--vocabulary) COMPREPLY=($(compgen -W 'sockeye nparam none' -- "$word")) ;;
    eval:--for) COMPREPLY=() ;;
    eval:--models) COMPREPLY=() ;;
    eval:--plot) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    eval:--limit) COMPREPLY=() ;;
    eval:--format) COMPREPLY=($(compgen -W 'text json jsonl csv markdown' -- "$word")) ;;
    eval:text=|eval:json=|eval:jsonl=|eval:csv=|eval:markdown=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    eval:--output|eval:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    eval:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    fit:--memory) COMPREPLY=() ;;
    fit:--tokens) COMPREPLY=() ;;
    fit:--source-tokens) COMPREPLY=() ;;
    fit:--batch) COMPREPLY=() ;;
    fit:--dtype) COMPREPLY=($(compgen -W 'f32 bf16 f16 fp8 int8 int4 nf4 fp4' -- "$word")) ;;
    fit:--cache-dtype) COMPREPLY=($(compgen -W 'f32 bf16 f16 fp8 int8 int4 nf4 fp4' -- "$word")) ;;
    fit:--config|fit:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    fit:--model|fit:-m) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    fit:--set|fit:-S) COMPREPLY=() ;;
    fit:--table|fit:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    fit:--vocabulary) COMPREPLY=($(compgen -W 'sockeye nparam none' -- "$word")) ;;
    fit:--limit) COMPREPLY=() ;;
    fit:--format) COMPREPLY=($(compgen -W 'text json jsonl markdown' -- "$word")) ;;
    fit:text=|fit:json=|fit:jsonl=|fit:markdown=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    fit:--output|fit:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    fit:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    infer:--table|infer:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    infer:--limit) COMPREPLY=() ;;
    infer:--format) COMPREPLY=($(compgen -W 'text json jsonl markdown' -- "$word")) ;;
    infer:text=|infer:json=|infer:jsonl=|infer:markdown=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    infer:--output|infer:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    infer:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    inspect:--depth|inspect:-d) COMPREPLY=() ;;
    inspect:--query) COMPREPLY=() ;;
    inspect:--sort|inspect:-s) COMPREPLY=($(compgen -W 'file name size' -- "$word")) ;;
    inspect:--filter|inspect:-f) COMPREPLY=() ;;
    inspect:--by) COMPREPLY=() ;;
    inspect:--rows|inspect:-n) COMPREPLY=() ;;
    inspect:--config|inspect:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    inspect:--set|inspect:-S) COMPREPLY=() ;;
    inspect:--table|inspect:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    inspect:--vocabulary) COMPREPLY=($(compgen -W 'sockeye nparam none' -- "$word")) ;;
    inspect:--limit) COMPREPLY=() ;;
    inspect:--format) COMPREPLY=($(compgen -W 'text json jsonl csv markdown html' -- "$word")) ;;
    inspect:text=|inspect:json=|inspect:jsonl=|inspect:csv=|inspect:markdown=|inspect:html=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    inspect:--output|inspect:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    inspect:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    learn:--output|learn:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    learn:--name) COMPREPLY=() ;;
    learn:--like) COMPREPLY=($(compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    learn:--table|learn:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    learn:--limit) COMPREPLY=() ;;
    learn:--format) COMPREPLY=($(compgen -W 'text json jsonl' -- "$word")) ;;
    learn:text=|learn:json=|learn:jsonl=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    models:--format) COMPREPLY=($(compgen -W 'text json jsonl csv markdown' -- "$word")) ;;
    models:text=|models:json=|models:jsonl=|models:csv=|models:markdown=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    models:--output|models:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    models:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    predict:--config|predict:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    predict:--model|predict:-m) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    predict:--set|predict:-S) COMPREPLY=() ;;
    predict:--table|predict:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    predict:--vocabulary) COMPREPLY=($(compgen -W 'sockeye nparam none' -- "$word")) ;;
    predict:--by) COMPREPLY=() ;;
    predict:--against) COMPREPLY=($(compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    predict:--tokens) COMPREPLY=() ;;
    predict:--images) COMPREPLY=() ;;
    predict:--patches) COMPREPLY=() ;;
    predict:--source-tokens) COMPREPLY=() ;;
    predict:--batch) COMPREPLY=() ;;
    predict:--rows|predict:-n) COMPREPLY=() ;;
    predict:--dtype) COMPREPLY=($(compgen -W 'f32 bf16 f16 f64 fp8 int8' -- "$word")) ;;
    predict:--limit) COMPREPLY=() ;;
    predict:--format) COMPREPLY=($(compgen -W 'text json jsonl csv markdown' -- "$word")) ;;
    predict:text=|predict:json=|predict:jsonl=|predict:csv=|predict:markdown=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    predict:--output|predict:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    predict:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    prove:--claims) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    prove:--claim) COMPREPLY=() ;;
    prove:--checkpoint|prove:-k) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    prove:--config|prove:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    prove:--model|prove:-m) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    prove:--set|prove:-S) COMPREPLY=() ;;
    prove:--at) COMPREPLY=() ;;
    prove:--table|prove:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    prove:--vocabulary) COMPREPLY=($(compgen -W 'sockeye nparam none' -- "$word")) ;;
    prove:--allow) COMPREPLY=($(compgen -W 'proved tested' -- "$word")) ;;
    prove:--limit) COMPREPLY=() ;;
    prove:--list|prove:-l) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    prove:--resume) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    prove:--jobs|prove:-j) COMPREPLY=() ;;
    prove:--timeout) COMPREPLY=() ;;
    prove:--format) COMPREPLY=($(compgen -W 'text json jsonl markdown csv html sarif junit' -- "$word")) ;;
    prove:text=|prove:json=|prove:jsonl=|prove:markdown=|prove:csv=|prove:html=|prove:sarif=|prove:junit=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    prove:--output|prove:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    prove:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    solve:--total|solve:-n) COMPREPLY=() ;;
    solve:--rounds-to|solve:-r) COMPREPLY=() ;;
    solve:--within) COMPREPLY=() ;;
    solve:--at-most) COMPREPLY=() ;;
    solve:--measure) COMPREPLY=() ;;
    solve:--group|solve:-g) COMPREPLY=() ;;
    solve:--free) COMPREPLY=() ;;
    solve:--keep) COMPREPLY=() ;;
    solve:--config|solve:-c) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    solve:--model|solve:-m) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
    solve:--set|solve:-S) COMPREPLY=() ;;
    solve:--table|solve:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    solve:--limit) COMPREPLY=() ;;
    solve:--format) COMPREPLY=($(compgen -W 'text json jsonl markdown' -- "$word")) ;;
    solve:text=|solve:json=|solve:jsonl=|solve:markdown=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    solve:--output|solve:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    solve:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    tables:--kind) COMPREPLY=() ;;
    tables:--measure) COMPREPLY=() ;;
    tables:--table|tables:-T) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
    tables:--format) COMPREPLY=($(compgen -W 'text json jsonl csv markdown' -- "$word")) ;;
    tables:text=|tables:json=|tables:jsonl=|tables:csv=|tables:markdown=) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    tables:--output|tables:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
    tables:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")) ;;
    *)
        if [[ $word != -* ]]; then
            case $command in
            browse) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
            card) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
            check) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
            derive) COMPREPLY=($(compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
            diff) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
            eval) COMPREPLY=($(compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
            fit) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
            fmt) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
            infer) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
            inspect) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
            learn) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word"; )) ;;
            models) COMPREPLY=($(compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
            predict) COMPREPLY=($(compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
            prove) COMPREPLY=($(compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
            solve) COMPREPLY=($(compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; compgen -W "$(shapeproof models --names 2>/dev/null)" -- "$word"; )) ;;
            tables) COMPREPLY=($(compgen -W "$(shapeproof tables --names 2>/dev/null)" -- "$word"; )) ;;
            help) COMPREPLY=($(compgen -W 'browse card check derive diff eval fit fmt infer inspect learn models predict prove solve tables help ' -- "$word"; )) ;;
            esac
            return
        fi
        case $command in
        browse) words='--config= --model= --set= --table= --vocabulary= --offline --limit= --color= --help' ;;
        card) words='--config= --model= --set= --table= --vocabulary= --offline --limit= --format= --json --output= --quiet --color= --no-pager --no-progress --help' ;;
        check) words='--config= --model= --set= --table= --vocabulary= --for= --fit= --tokens= --source-tokens= --batch= --cache-dtype= --strict --data --all --claims= --expect= --trace --offline --limit= --list= --resume --jobs= --timeout= --format= --json --output= --quiet --color= --no-pager --no-progress --help' ;;
        derive) words='--config= --model= --set= --table= --measure= --latex --claims --python --markdown --expanded --limit= --format= --json --output= --quiet --color= --no-pager --help' ;;
        diff) words='--data --expect= --strict --all --by= --rows= --exact --config= --set= --table= --vocabulary= --offline --limit= --format= --json --output= --quiet --color= --no-pager --no-progress --help' ;;
        eval) words='--config= --model= --set= --table= --checkpoint= --vocabulary= --for= --models= --csv --plot= --offline --limit= --format= --json --output= --quiet --color= --no-pager --no-progress --help' ;;
        fit) words='--memory= --tokens= --source-tokens= --batch= --dtype= --cache-dtype= --config= --model= --set= --table= --vocabulary= --offline --limit= --format= --json --output= --quiet --color= --no-pager --help' ;;
        fmt) words='--in-place --check --help' ;;
        infer) words='--table= --emit-config --all --trace --offline --limit= --format= --json --output= --quiet --color= --no-pager --no-progress --help' ;;
        inspect) words='--tree --depth= --totals --offsets --query= --sort= --filter= --by= --redact --rows= --exact --config= --set= --table= --vocabulary= --strict --offline --limit= --format= --json --output= --quiet --color= --no-pager --no-progress --help' ;;
        learn) words='--output= --name= --like= --partial --all --table= --trace --offline --limit= --format= --json --no-pager --no-progress --help' ;;
        models) words='--config --names --format= --json --output= --quiet --color= --no-pager --help' ;;
        predict) words='--config= --model= --set= --table= --vocabulary= --all --formulas --stored --by= --against= --tokens= --images= --patches= --source-tokens= --batch= --rows= --exact --dtype= --limit= --format= --json --output= --quiet --color= --no-pager --help' ;;
        prove) words='--claims= --claim= --checkpoint= --infer --alone --config= --model= --set= --at= --table= --vocabulary= --allow= --explain --all --offline --limit= --list= --resume= --jobs= --timeout= --format= --json --output= --quiet --color= --no-pager --no-progress --help' ;;
        solve) words='--total= --rounds-to= --within= --at-most= --measure= --group= --active --free= --keep= --all --config= --model= --set= --table= --limit= --format= --json --output= --quiet --color= --no-pager --no-progress --help' ;;
        tables) words='--kind= --measure= --parts --names --table= --format= --json --output= --quiet --color= --no-pager --help' ;;
        help) words='--help' ;;
        esac
        COMPREPLY=($(compgen -W "$words" -- "$word"))
        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
        ;;
    esac
}
complete -F _shapeproof shapeproof
