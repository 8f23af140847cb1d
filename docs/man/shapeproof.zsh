#compdef shapeproof
# zsh completion for shapeproof. Written by 'shapeproof help --completion zsh'.

_shapeproof_commands() {
    local -a commands=(
        'browse:look through the tensors of a checkpoint on a terminal'
        'card:print the numbers for a model card, and compare the README with them'
        'check:compare a checkpoint with the tensors that its configuration implies'
        'derive:print the number of parameters of a table as a formula'
        'diff:compare two checkpoints, in any formats'
        'eval:compute expressions'
        'fit:say whether a model fits in the memory of a device'
        'fmt:format table files in the style of the built-in ones'
        'infer:find the table and the hyper-parameters that explain a checkpoint'
        'inspect:list the tensors of checkpoints, with dtypes, shapes, ties and totals'
        'learn:write a table that explains given checkpoints'
        'models:list the published models whose hyper-parameters are built in'
        'predict:list what a checkpoint should hold, from its hyper-parameters'
        'prove:prove or refute formulas for the number of parameters of a table'
        'solve:find hyper-parameters that give a number of parameters'
        'tables:list the tables, or show one'
        'help:explain a command'
    )
    _describe -t commands command commands
}

# Names of tables, names of models, files.
_shapeproof_names() {
    local what
    local -a names
    for what; do
        if [[ $what == files ]]; then
            _files
        else
            names=(${(f)"$(_call_program $what shapeproof $what --names 2>/dev/null)"})
            _wanted $what expl $what compadd -a names
        fi
    done
}

# The formats that are given, or the FILE behind html=.
_shapeproof_formats() {
    if compset -P '*='; then
        _files
    else
        _wanted formats expl format compadd -- "$@"
    fi
}

_shapeproof() {
    local expl
    if (( CURRENT == 2 )); then
        if [[ $words[2] == -* ]]; then
            _wanted options expl option compadd -- --help --version
        else
            _shapeproof_commands
            _files
        fi
        return
    fi
    shift words
    (( CURRENT-- ))
    local command=$words[1]
    [[ " browse card check derive diff eval fit fmt infer inspect learn models predict prove solve tables help " == *" $command "* ]] || command=inspect # shapeproof PATH
    case $command in
    browse)
        _arguments -s -S \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-m+,--model=}'[the hyper-parameters of a published model, in place of a configuration]:MODEL: _shapeproof_names models' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--vocabulary=[if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of nparam (github.com/Este1le/nparam)]:vocabulary:(sockeye nparam none)' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:PATH:_files'
        ;;
    card)
        _arguments -s -S \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-m+,--model=}'[the hyper-parameters of a published model, in place of a configuration]:MODEL: _shapeproof_names models' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--vocabulary=[if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of nparam (github.com/Este1le/nparam)]:vocabulary:(sockeye nparam none)' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl markdown' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '--no-progress[do not show the progress of the command on the terminal]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:PATH:_files'
        ;;
    check)
        _arguments -s -S \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-m+,--model=}'[the hyper-parameters of a published model, in place of a configuration]:MODEL: _shapeproof_names models' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--vocabulary=[if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of nparam (github.com/Este1le/nparam)]:vocabulary:(sockeye nparam none)' \
            '*--for=[report whether these loaders load the file]:LOADER[,LOADER]...: ' \
            '*--fit=[say also whether the model fits in a memory of this size]:SIZE: ' \
            '*--tokens=[with --fit\: the number of tokens of a sequence]:LENGTH: ' \
            '*--source-tokens=[the number of tokens that the encoder of an encoder-decoder]:LENGTH: ' \
            '*--batch=[the number of sequences]:N: ' \
            '*--cache-dtype=[of the cache]:cache-dtype:(f32 bf16 f16 fp8 int8 int4 nf4 fp4)' \
            '--strict[exit with 1 also if the verdict is explained, or if there is a warning, for example that the table ignores a key of --set]' \
            '(-d --data)'{-d,--data}'[compare the data of tied tensors that are stored twice, and of tensors that could be tied]' \
            '(-a --all)'{-a,--all}'[list also the findings that a cause explains, with one line for each tensor]' \
            '*--claims=[a file of your own claims about tables]:FILE:_files' \
            '*'{-e+,--expect=}'[a file of expected differences, each with a reason]:FILE:_files' \
            '--trace[write each attempt to stderr, with its result or why it was rejected]' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*'{-l+,--list=}'[process each checkpoint whose path is a line of FILE (- is standard input), and write a line of JSON for each]:FILE:_files' \
            '*--resume=-[report whether training can go on from the checkpoint at PATH]::FILE:_files' \
            '*'{-j+,--jobs=}'[with --list\: the number of parallel processes]:N: ' \
            '*--timeout=[with --list\: the time limit for one checkpoint]:SECONDS: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl markdown csv html sarif junit' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '--no-progress[do not show the progress of the command on the terminal]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:PATH:_files'
        ;;
    derive)
        _arguments -s -S \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-m+,--model=}'[the hyper-parameters of a published model, in place of a configuration]:MODEL: _shapeproof_names models' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--measure=[the formula of a measure instead]:measure:(active cache flops activations)' \
            '--latex[write the formulas in LaTeX]' \
            '--claims[write the formulas for all values of the flags as a file of claims for '\''prove --claims'\'']' \
            '--python[write the formulas for all values of the flags as a Python function with a self-test]' \
            '--markdown[the same as --format markdown]' \
            '--expanded[expand the formulas instead of collecting and factoring their terms]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl markdown' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[TABLE|MODEL]: _shapeproof_names tables models'
        ;;
    diff)
        _arguments -s -S \
            '(-d --data)'{-d,--data}'[compare the data of the tensors too]' \
            '*'{-e+,--expect=}'[a file of expected differences, each with a reason]:FILE:_files' \
            '--strict[exit with 1 also if there is a warning about A or B]' \
            '(-a --all)'{-a,--all}'[write one line for each tensor]' \
            '*--by=[print by how many parameters and bytes each layer, group, module, dtype, shard or expert grew or shrank]:KEY[,KEY]: ' \
            '*'{-n+,--rows=}'[with --by, print at most N rows, and one for all others]:N: ' \
            '--exact[with --by, print all digits of each number]' \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--vocabulary=[if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of nparam (github.com/Este1le/nparam)]:vocabulary:(sockeye nparam none)' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl csv markdown html' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '--no-progress[do not show the progress of the command on the terminal]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:A B:_files'
        ;;
    eval)
        _arguments -s -S \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-m+,--model=}'[the hyper-parameters of a published model, in place of a configuration]:MODEL: _shapeproof_names models' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*'{-k+,--checkpoint=}'[use the hyper-parameters of this checkpoint, and let expressions contain stored(...)]:PATH:_files' \
            '*--vocabulary=[if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of nparam (github.com/Este1le/nparam)]:vocabulary:(sockeye nparam none)' \
            '*--for=[evaluate for several values of one hyper-parameter]:KEY=VALUES: ' \
            '*--models=[evaluate for several published models or tables, in place of the first operand]:NAME,NAME: ' \
            '--csv[the same as --format csv]' \
            '*--plot=[with --for\: draw the values as curves]:FILE.svg:_files' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl csv markdown' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '--no-progress[do not show the progress of the command on the terminal]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[TABLE|MODEL] EXPRESSION...: _shapeproof_names tables models'
        ;;
    fit)
        _arguments -s -S \
            '*--memory=[the memory of one device]:SIZE: ' \
            '*--tokens=[the number of tokens of a sequence]:LENGTH: ' \
            '*--source-tokens=[the number of tokens that the encoder of an encoder-decoder]:LENGTH: ' \
            '*--batch=[the number of sequences]:N: ' \
            '*--dtype=[of the weights]:dtype:(f32 bf16 f16 fp8 int8 int4 nf4 fp4)' \
            '*--cache-dtype=[of the cache]:cache-dtype:(f32 bf16 f16 fp8 int8 int4 nf4 fp4)' \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-m+,--model=}'[the hyper-parameters of a published model, in place of a configuration]:MODEL: _shapeproof_names models' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--vocabulary=[if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of nparam (github.com/Este1le/nparam)]:vocabulary:(sockeye nparam none)' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl markdown' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[MODEL|PATH]: _shapeproof_names models files'
        ;;
    fmt)
        _arguments -s -S \
            '(-i --in-place)'{-i,--in-place}'[rewrite the files that differ instead of printing them]' \
            '--check[print the names of the files that differ, and end with status 1 if there are any]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[FILE]...:_files'
        ;;
    infer)
        _arguments -s -S \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '(-E --emit-config)'{-E,--emit-config}'[write to stdout, instead of the report, a config.json that check can use]' \
            '(-a --all)'{-a,--all}'[write one line for each tensor that is not explained]' \
            '--trace[write each attempt to stderr, with its result or why it was rejected]' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl markdown' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '--no-progress[do not show the progress of the command on the terminal]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:PATH:_files'
        ;;
    inspect)
        _arguments -s -S \
            '(-t --tree)'{-t,--tree}'[show the names as a tree, with sub-totals]' \
            '*'{-d+,--depth=}'[print one sub-total for all names that share their first N components]:N: ' \
            '--totals[print the totals without the tensors]' \
            '--offsets[print where the data of each tensor begin and end in its file, in bytes]' \
            '*--query=[print the value of one key of the metadata as it is in the FILE, and nothing else]:KEY: ' \
            '*'{-s+,--sort=}'[the order of the tensors]:sort:(file name size)' \
            '*'{-f+,--filter=}'[list only tensors whose whole name matches a shell pattern]:GLOB: ' \
            '*--by=[print the parameters and bytes of each layer, group, module, dtype, shard or expert]:KEY[,KEY]: ' \
            '--redact[replace names, metadata and paths by placeholders, so that the output and the messages can be shown in public]' \
            '*'{-n+,--rows=}'[with --by, print at most N rows, and one for all others]:N: ' \
            '--exact[with --by, print all digits of each number]' \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--vocabulary=[if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of nparam (github.com/Este1le/nparam)]:vocabulary:(sockeye nparam none)' \
            '--strict[exit with 1 if there is a warning about a FILE, for example that unpickling it would call a function]' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl csv markdown html' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '--no-progress[do not show the progress of the command on the terminal]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:FILE...:_files'
        ;;
    learn)
        _arguments -s -S \
            '*'{-o+,--output=}'[write the table to FILE instead of stdout]:FILE:_files' \
            '*--name=[the name of the table]:NAME: ' \
            '*--like=[extend this table]:TABLE: _shapeproof_names tables' \
            '--partial[write the table even if it does not explain every tensor]' \
            '(-a --all)'{-a,--all}'[list every tensor that is not explained, and every undecided expression with all lines of the table that contain it]' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '--trace[write each attempt to stderr, with its result or why it was rejected]' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl' \
            '--json[the same as --format json]' \
            '--no-pager[do not use a pager]' \
            '--no-progress[do not show the progress of the command on the terminal]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:CHECKPOINT...:_files'
        ;;
    models)
        _arguments -s -S \
            '(-c --config)'{-c,--config}'[write the hyper-parameters of MODEL as a config.json]' \
            '--names[print the names alone, one a line]' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl csv markdown' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[MODEL|FILTER]: _shapeproof_names models'
        ;;
    predict)
        _arguments -s -S \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-m+,--model=}'[the hyper-parameters of a published model, in place of a configuration]:MODEL: _shapeproof_names models' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--vocabulary=[if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of nparam (github.com/Este1le/nparam)]:vocabulary:(sockeye nparam none)' \
            '(-a --all)'{-a,--all}'[write one line for each tensor]' \
            '(-f --formulas)'{-f,--formulas}'[print the formula of each sub-total beside it]' \
            '(-s --stored)'{-s,--stored}'[list the tensors that a quantised checkpoint stores in place of its weights]' \
            '*--by=[print the parameters and bytes of each layer, group, module, dtype or expert, and their shares]:KEY[,KEY]: ' \
            '*--against=[print by how many parameters and bytes another model differs, by the keys of --by]:TABLE|MODEL: _shapeproof_names tables models' \
            '*--tokens=[with --by measure, the number of tokens of a sequence]:LENGTH: ' \
            '*--images=[with --by measure, the number of images of a sequence, for a model of text and images]:N: ' \
            '*--patches=[with --by measure, the number of patches of an image, for a model that reads images of any size]:N: ' \
            '*--source-tokens=[with --by measure, what an encoder reads for each sequence\: tokens, steps of a spectrogram or samples of a sound]:LENGTH: ' \
            '*--batch=[the number of sequences]:N: ' \
            '*'{-n+,--rows=}'[with --by, print at most N rows, and one for all others]:N: ' \
            '--exact[with --by, print all digits of each number]' \
            '*--dtype=[the dtype of the tensors for which the table gives none]:dtype:(f32 bf16 f16 f64 fp8 int8)' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl csv markdown' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[TABLE|MODEL]: _shapeproof_names tables models'
        ;;
    prove)
        _arguments -s -S \
            '*--claims=[a file of your own claims about tables]:FILE:_files' \
            '*--claim=[a claim]:TEXT: ' \
            '*'{-k+,--checkpoint=}'[evaluate the claims for this checkpoint]:PATH:_files' \
            '--infer[with --checkpoint\: infer the table and the hyper-parameters from names and shapes, as the command infer does]' \
            '--alone[with --checkpoint\: use no table]' \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-m+,--model=}'[the hyper-parameters of a published model, in place of a configuration]:MODEL: _shapeproof_names models' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*--at=[evaluate at the hyper-parameters of a counter-example, written as prove prints it]:POINT: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--vocabulary=[if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of nparam (github.com/Este1le/nparam)]:vocabulary:(sockeye nparam none)' \
            '*--allow=[with tested, a claim that is only TESTED counts as proved]:allow:(proved tested)' \
            '--explain[print the proof of every verdict]' \
            '(-a --all)'{-a,--all}'[list also the claims that are proved]' \
            '--offline[do not use the network]' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*'{-l+,--list=}'[process each checkpoint whose path is a line of FILE (- is standard input), and write a line of JSON for each]:FILE:_files' \
            '*--resume=[with --list\: append the lines to FILE, and skip the paths that have a line there]:FILE:_files' \
            '*'{-j+,--jobs=}'[with --list\: the number of parallel processes]:N: ' \
            '*--timeout=[with --list\: the time limit for one checkpoint]:SECONDS: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl markdown csv html sarif junit' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '--no-progress[do not show the progress of the command on the terminal]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[TABLE...|MODEL]: _shapeproof_names tables models'
        ;;
    solve)
        _arguments -s -S \
            '*'{-n+,--total=}'[the number of parameters to explain]:N: ' \
            '*'{-r+,--rounds-to=}'[the number of parameters as a publication prints it]:FIGURE: ' \
            '*--within=[with --total\: by how much a total may differ from N]:PERCENT: ' \
            '*--at-most=[in place of --total]:SIZE: ' \
            '*--measure=[an expression that has the value N, in place of the number of parameters]:EXPRESSION: ' \
            '*'{-g+,--group=}'[count the parameters of one group instead of the whole table]:GROUP: ' \
            '--active[count only the parameters that a token uses]' \
            '*--free=[two or three hyper-parameters that change together]:KEY,KEY: ' \
            '*--keep=[with --free\: keep the ratio of two hyper-parameters]:KEY/KEY: ' \
            '--all[with --free\: try every integer, not only multiples of 64]' \
            '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files' \
            '*'{-m+,--model=}'[the hyper-parameters of a published model, in place of a configuration]:MODEL: _shapeproof_names models' \
            '*'{-S+,--set=}'[set one hyper-parameter]:KEY=VALUE: ' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--limit=[what one phase of the command may use]:WHAT=N: ' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl markdown' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '--no-progress[do not show the progress of the command on the terminal]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[TABLE|MODEL]: _shapeproof_names tables models'
        ;;
    tables)
        _arguments -s -S \
            '*--kind=[list only tables of one kind]:KIND: ' \
            '*--measure=[list only tables that have this measure]:NAME: ' \
            '--parts[list the parts that a table of your own can use]' \
            '--names[print the names alone, one a line]' \
            '*'{-T+,--table=}'[the name of a table, a table file of your own, or a folder of such files]:TABLE|FILE: _shapeproof_names tables files' \
            '*--format=[the format of the output]:format: _shapeproof_formats text json jsonl csv markdown' \
            '--json[the same as --format json]' \
            '*'{-o+,--output=}'[write the output to FILE instead of stdout]:FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[write nothing to stdout]' \
            '*--color=[whether to colour the text]:color:(auto always never)' \
            '--no-pager[do not use a pager]' \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[TABLE|FILTER]: _shapeproof_names tables'
        ;;
    help)
        _arguments -s -S \
            '(-h --help)'{-h,--help}'[explain the command]' \
            '*:[COMMAND]:_shapeproof_commands'
        ;;
    esac
}

_shapeproof "$@"
