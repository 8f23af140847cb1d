/* SPDX-License-Identifier: MIT
 * Completion for bash, zsh and fish, from the option tables. docs/man/shapeproof.bash, .zsh and .fish are these
 * outputs, and a test compares them. The scripts ask `shapeproof tables --names` and `shapeproof models --names` for
 * names, so that the tables of SHAPEPROOF_TABLES are offered too. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

/* ---- what can stand in a place ---- */

enum place { PATHS = 1, TABLES = 2, MODELS = 4, COMMANDS = 8 };

/* What an argument or the operands of a command may be, by the words in capitals in it: PATHS of "FILE.svg", TABLES and
 * MODELS of "[TABLE...|MODEL]"; 0 for any other text. */
static unsigned places_of(const char *argument)
{
    static const struct {
        const char *word;
        enum place place;
    } words[] = {{"FILE", PATHS},   {"PATH", PATHS},   {"CHECKPOINT", PATHS}, {"A", PATHS},
                 {"TABLE", TABLES}, {"MODEL", MODELS}, {"COMMAND", COMMANDS}};
    unsigned places = 0;
    while (*argument) {
        size_t length = 0;
        while (isupper((unsigned char)argument[length])) length++;
        for (size_t i = 0; length && i < sizeof words / sizeof *words; i++)
            if (strlen(words[i].word) == length && memcmp(words[i].word, argument, length) == 0)
                places |= words[i].place;
        argument += length ? length : 1;
    }
    return places;
}

/* file|name|size as words. */
static void put_words(FILE *stream, const char *choices)
{
    for (; *choices; choices++) putc(*choices == '|' ? ' ' : *choices, stream);
}

/* check derive diff ... */
static void put_commands(FILE *stream)
{
    for (size_t i = 0; cli_commands[i]; i++) fprintf(stream, "%s ", cli_commands[i]->name);
}

/* The first clause of a help text, up to ';', ':' or ", such as", with a backslash in front of each of the `special`
 * characters; a quote is written as `quote`. */
static void put_clause(FILE *stream, const char *help, const char *special, const char *quote)
{
    const char *such_as = strstr(help, ", such as");
    const bool is_condition = strncmp(help, "with ", 5) == 0; /* "with --list: ..." says nothing by itself */
    for (; *help && *help != ';' && help != such_as; help++) {
        if (help[0] == ':' && help[1] == ' ' && !is_condition) break;
        if (*help == '\'') {
            fputs(quote, stream);
            continue;
        }
        if (strchr(special, *help)) putc('\\', stream);
        putc(*help, stream);
    }
}

/* ---- bash ---- */

/* COMPREPLY=(what can stand there) */
static void bash_put_places(FILE *stream, unsigned places)
{
    if (!places) {
        fputs("COMPREPLY=()", stream);
        return;
    }
    if (places & PATHS) fputs("compopt -o filenames; ", stream);
    fputs("COMPREPLY=($(", stream);
    if (places & PATHS) fputs("compgen -f -- \"$word\"; ", stream);
    if (places & TABLES) fputs("compgen -W \"$(shapeproof tables --names 2>/dev/null)\" -- \"$word\"; ", stream);
    if (places & MODELS) fputs("compgen -W \"$(shapeproof models --names 2>/dev/null)\" -- \"$word\"; ", stream);
    if (places & COMMANDS) {
        fputs("compgen -W '", stream);
        put_commands(stream);
        fputs("' -- \"$word\"; ", stream);
    }
    fputs("))", stream);
}

/* inspect:text=|inspect:html=) files ;; */
static void bash_put_file(FILE *stream, const struct cli_command *command, const char *choices)
{
    fputs("    ", stream);
    for (const char *choice = choices; *choice;) {
        const size_t length = strcspn(choice, "|");
        fprintf(stream, "%s%s:%.*s=", choice == choices ? "" : "|", command->name, (int)length, choice);
        choice += length + (choice[length] == '|');
    }
    fputs(") ", stream);
    bash_put_places(stream, PATHS);
    fputs(" ;;\n", stream);
}

/* inspect:--sort|inspect:-s) words of the value ;; */
static void bash_put_values(FILE *stream, const struct cli_command *command)
{
    for (const struct cli_option *option = command->options; option->name; option++) {
        if (!option->argument || option->hidden) continue;
        fprintf(stream, "    %s:--%s", command->name, option->name);
        if (option->letter) fprintf(stream, "|%s:-%c", command->name, option->letter);
        fputs(") ", stream);
        if (cli_is_choice(option)) {
            fputs("COMPREPLY=($(compgen -W '", stream);
            put_words(stream, option->argument);
            fputs("' -- \"$word\"))", stream);
        } else bash_put_places(stream, places_of(option->argument));
        fputs(" ;;\n", stream);
        if (option->takes_file) bash_put_file(stream, command, option->argument);
    }
}

/* inspect) words='--tree --depth= ...' ;; */
static void bash_put_options(FILE *stream, const struct cli_command *command)
{
    fprintf(stream, "    %s) words='", command->name);
    for (const struct cli_option *option = command->options; option->name; option++)
        if (!option->hidden)
            fprintf(stream, "--%s%s ", option->name, option->argument && !option->value_with ? "=" : "");
    fprintf(stream, "--%s' ;;\n", cli_help_option.name);
}

static void print_bash(FILE *stream)
{
    fputs(
        "# bash completion for shapeproof. Written by 'shapeproof help --completion bash'.\n"
        "_shapeproof() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=\n"
        "    local commands='",
        stream);
    put_commands(stream);
    fputs("'\n"
          "    if [[ $COMP_CWORD == 1 ]]; then\n"
          "        compopt -o filenames\n"
          "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$word\"; compgen -f -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    [[ \" $commands \" == *\" $command \"* ]] || command=inspect # shapeproof PATH\n"
          "    # bash splits --sort=name into three words, and html=report.html too\n"
          "    local split=\n"
          "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]} split=yes\n"
          "    [[ $word == = ]] && word= split=yes\n"
          "    [[ $split && $before != -* ]] && before+==\n"
          "    case $command:$before in\n",
          stream);
    for (size_t i = 0; cli_commands[i]; i++) bash_put_values(stream, cli_commands[i]);
    fputs("    *)\n"
          "        if [[ $word != -* ]]; then\n"
          "            case $command in\n",
          stream);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(stream, "            %s) ", cli_commands[i]->name);
        bash_put_places(stream, places_of(cli_commands[i]->operands));
        fputs(" ;;\n", stream);
    }
    fputs("            esac\n"
          "            return\n"
          "        fi\n"
          "        case $command in\n",
          stream);
    for (size_t i = 0; cli_commands[i]; i++) {
        fputs("    ", stream);
        bash_put_options(stream, cli_commands[i]);
    }
    fputs("        esac\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
          "        ;;\n"
          "    esac\n"
          "}\n"
          "complete -F _shapeproof shapeproof\n",
          stream);
}

/* ---- zsh ---- */

/* The action of _arguments for what can stand in a place. */
static void zsh_put_places(FILE *stream, unsigned places)
{
    if (!places) putc(' ', stream); /* any text: nothing is offered */
    else if (places == PATHS) fputs("_files", stream);
    else if (places == COMMANDS) fputs("_shapeproof_commands", stream);
    else /* behind a blank, _arguments adds no words of its own */
        fprintf(stream, " _shapeproof_names%s%s%s", places & TABLES ? " tables" : "", places & MODELS ? " models" : "",
                places & PATHS ? " files" : "");
}

/* What _arguments calls for the value of --format. */
static const char zsh_formats[] = "# The formats that are given, or the FILE behind html=.\n"
                                  "_shapeproof_formats() {\n"
                                  "    if compset -P '*='; then\n"
                                  "        _files\n"
                                  "    else\n"
                                  "        _wanted formats expl format compadd -- \"$@\"\n"
                                  "    fi\n"
                                  "}\n\n";

/* A specification of _arguments: '*'{-c+,--config=}'[the hyper-parameters]:FILE:_files'. An option with a value may be
 * given again. */
static void zsh_put_option(FILE *stream, const struct cli_option *option)
{
    const char *value = option->argument;
    fputs("            ", stream);
    if (option->letter && value) fprintf(stream, "'*'{-%c+,--%s=}'[", option->letter, option->name);
    else if (option->letter)
        fprintf(stream, "'(-%c --%s)'{-%c,--%s}'[", option->letter, option->name, option->letter, option->name);
    else fprintf(stream, !value ? "'--%s[" : option->value_with ? "'*--%s=-[" : "'*--%s=[", option->name);
    put_clause(stream, option->help, "[]:", "'\\''");
    putc(']', stream);
    if (value) {
        fprintf(stream, option->value_with ? "::%s:" : ":%s:", cli_is_choice(option) ? option->name : value);
        if (option->takes_file) {
            fputs(" _shapeproof_formats ", stream);
            put_words(stream, value);
        } else if (cli_is_choice(option)) {
            putc('(', stream);
            put_words(stream, value);
            putc(')', stream);
        } else zsh_put_places(stream, places_of(value));
    }
    fputs("' \\\n", stream);
}

static void zsh_put_command(FILE *stream, const struct cli_command *command)
{
    fprintf(stream, "    %s)\n        _arguments -s -S \\\n", command->name);
    for (const struct cli_option *option = command->options; option->name; option++)
        if (!option->hidden) zsh_put_option(stream, option);
    zsh_put_option(stream, &cli_help_option);
    fprintf(stream, "            '*:%s:", *command->operands ? command->operands : " ");
    zsh_put_places(stream, places_of(command->operands));
    fputs("'\n        ;;\n", stream);
}

static void print_zsh(FILE *stream)
{
    fputs("#compdef shapeproof\n"
          "# zsh completion for shapeproof. Written by 'shapeproof help --completion zsh'.\n\n"
          "_shapeproof_commands() {\n"
          "    local -a commands=(\n",
          stream);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(stream, "        '%s:", cli_commands[i]->name);
        put_clause(stream, cli_commands[i]->summary, "", "'\\''");
        fputs("'\n", stream);
    }
    fputs("    )\n"
          "    _describe -t commands command commands\n"
          "}\n\n"
          "# Names of tables, names of models, files.\n"
          "_shapeproof_names() {\n"
          "    local what\n"
          "    local -a names\n"
          "    for what; do\n"
          "        if [[ $what == files ]]; then\n"
          "            _files\n"
          "        else\n"
          "            names=(${(f)\"$(_call_program $what shapeproof $what --names 2>/dev/null)\"})\n"
          "            _wanted $what expl $what compadd -a names\n"
          "        fi\n"
          "    done\n"
          "}\n\n",
          stream);
    fputs(zsh_formats, stream);
    fputs("_shapeproof() {\n"
          "    local expl\n"
          "    if (( CURRENT == 2 )); then\n"
          "        if [[ $words[2] == -* ]]; then\n"
          "            _wanted options expl option compadd -- --help --version\n"
          "        else\n"
          "            _shapeproof_commands\n"
          "            _files\n"
          "        fi\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    local command=$words[1]\n"
          "    [[ \" ",
          stream);
    put_commands(stream);
    fputs("\" == *\" $command \"* ]] || command=inspect # shapeproof PATH\n"
          "    case $command in\n",
          stream);
    for (size_t i = 0; cli_commands[i]; i++) zsh_put_command(stream, cli_commands[i]);
    fputs("    esac\n"
          "}\n\n"
          "_shapeproof \"$@\"\n",
          stream);
}

/* ---- fish ---- */

/* The flags of `complete` for what can stand in a place: -F is with files, -f without. */
static void fish_put_places(FILE *stream, unsigned places)
{
    fputs(places & PATHS ? " -F" : " -f", stream);
    if (!(places & ~(unsigned)PATHS)) return;
    fputs(" -a '", stream);
    if (places & TABLES) fputs("(shapeproof tables --names 2>/dev/null)", stream);
    if (places & TABLES && places & MODELS) putc(' ', stream);
    if (places & MODELS) fputs("(shapeproof models --names 2>/dev/null)", stream);
    if (places & COMMANDS) put_commands(stream);
    putc('\'', stream);
}

/* complete -c shapeproof -n '__shapeproof_is inspect' -l sort -s s -r -f -a 'file name size' -d '...' */
static void fish_put_option(FILE *stream, const struct cli_command *command, const struct cli_option *option)
{
    fprintf(stream, "complete -c shapeproof -n '__shapeproof_is %s' -l %s", command->name, option->name);
    if (option->letter) fprintf(stream, " -s %c", option->letter);
    if (option->argument && !option->value_with) fputs(" -r", stream);
    if (option->argument && cli_is_choice(option)) {
        fprintf(stream, " -f -a '%s", option->takes_file ? "(__shapeproof_formats " : "");
        put_words(stream, option->argument);
        fputs(option->takes_file ? ")'" : "'", stream);
    } else if (option->argument) fish_put_places(stream, places_of(option->argument));
    fputs(" -d '", stream);
    put_clause(stream, option->help, "\\", "\\'");
    fputs("'\n", stream);
}

static void print_fish(FILE *stream)
{
    fputs("# fish completion for shapeproof. Written by 'shapeproof help --completion fish'.\n\n"
          "# Whether the first word is that command; a path is shown by inspect.\n"
          "function __shapeproof_is\n"
          "    set -l words (commandline -opc)\n"
          "    test (count $words) -gt 1; or return 1\n"
          "    contains -- $words[2] ",
          stream);
    put_commands(stream);
    fputs("\n    or set words[2] inspect\n"
          "    test $words[2] = $argv[1]\n"
          "end\n\n"
          "# The formats that are given, or the FILE behind html=.\n"
          "function __shapeproof_formats\n"
          "    set -l word (string replace -r '^--format=' '' -- (commandline -ct))\n"
          "    set -l format (string match -r '^[a-z]+=' -- $word)\n"
          "    or begin\n"
          "        printf '%s\\n' $argv\n"
          "        return\n"
          "    end\n"
          "    for path in (__fish_complete_path (string replace -- $format '' $word))\n"
          "        echo $format$path\n"
          "    end\n"
          "end\n\n"
          "function __shapeproof_is_first\n"
          "    test (count (commandline -opc)) -eq 1\n"
          "end\n\n"
          "complete -c shapeproof -f\n"
          "complete -c shapeproof -n __shapeproof_is_first -F\n"
          "complete -c shapeproof -n __shapeproof_is_first -l help -s h -d 'explain the commands'\n"
          "complete -c shapeproof -n __shapeproof_is_first -l version -s V -d 'print the version'\n",
          stream);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(stream, "complete -c shapeproof -n __shapeproof_is_first -a %s -d '", cli_commands[i]->name);
        put_clause(stream, cli_commands[i]->summary, "\\", "\\'");
        fputs("'\n", stream);
    }
    for (size_t i = 0; cli_commands[i]; i++) {
        const struct cli_command *command = cli_commands[i];
        const unsigned places = places_of(command->operands);
        putc('\n', stream);
        if (places) {
            fprintf(stream, "complete -c shapeproof -n '__shapeproof_is %s'", command->name);
            fish_put_places(stream, places);
            putc('\n', stream);
        }
        for (const struct cli_option *option = command->options; option->name; option++)
            if (!option->hidden) fish_put_option(stream, command, option);
        fish_put_option(stream, command, &cli_help_option);
    }
}

/* ---- all of them ---- */

void cli_print_completion(FILE *stream, const char *shell)
{
    if (strcmp(shell, "zsh") == 0) print_zsh(stream);
    else if (strcmp(shell, "fish") == 0) print_fish(stream);
    else print_bash(stream);
}
