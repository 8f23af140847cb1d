/* SPDX-License-Identifier: MIT
 * Completion for bash. docs/man/shapeproof.bash is this output, and a test compares the two. */
#include "cli/cli.h"

#include <string.h>

/* file|name|size as words. */
static void put_words(FILE *stream, const char *choices)
{
    for (; *choices; choices++) putc(*choices == '|' ? ' ' : *choices, stream);
}

/* inspect:--sort) words of the value ;; */
static void complete_values(FILE *stream, const struct cli_command *command)
{
    for (const struct cli_option *option = command->options; option->name; option++) {
        if (!option->argument || option->hidden) continue;
        fprintf(stream, "    %s:--%s", command->name, option->name);
        if (option->letter) fprintf(stream, "|%s:-%c", command->name, option->letter);
        fputs(") ", stream);
        if (cli_is_choice(option)) {
            fputs("COMPREPLY=($(compgen -W '", stream);
            put_words(stream, option->argument);
            fputs("' -- \"$word\")) ;;\n", stream);
        } else if (strcmp(option->argument, "FILE") == 0) {
            fputs("COMPREPLY=($(compgen -f -- \"$word\")) ;;\n", stream);
        } else {
            fputs("COMPREPLY=() ;;\n", stream);
        }
    }
}

/* inspect) words='--tree --depth= ...' ;; */
static void put_options(FILE *stream, const struct cli_command *command)
{
    fprintf(stream, "    %s) words='", command->name);
    for (const struct cli_option *option = command->options; option->name; option++)
        if (!option->hidden) fprintf(stream, "--%s%s ", option->name, option->argument ? "=" : "");
    fprintf(stream, "--%s' ;;\n", cli_help_option.name);
}

/* check derive diff ... */
static void put_commands(FILE *stream)
{
    for (size_t i = 0; cli_commands[i]; i++) fprintf(stream, "%s ", cli_commands[i]->name);
}

void cli_print_bash_completion(FILE *stream)
{
    fputs(
        "# bash completion for shapeproof. Written by 'shapeproof help --completion bash'.\n"
        "_shapeproof() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=\n"
        "    if [[ $COMP_CWORD == 1 ]]; then\n"
        "        COMPREPLY=($(compgen -W '",
        stream);
    put_commands(stream);
    fputs("--help --version' -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    # bash splits --sort=name into three words\n"
          "    [[ $word == = ]] && word= || { [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}; }\n"
          "    case $command:$before in\n",
          stream);
    for (size_t i = 0; cli_commands[i]; i++) complete_values(stream, cli_commands[i]);
    fputs("    help:help) COMPREPLY=($(compgen -W '", stream);
    put_commands(stream);
    fputs("' -- \"$word\")) ;;\n"
          "    *)\n"
          "        if [[ $word != -* ]]; then\n"
          "            compopt -o filenames\n"
          "            COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "            return\n"
          "        fi\n"
          "        case $command in\n",
          stream);
    for (size_t i = 0; cli_commands[i]; i++) {
        fputs("    ", stream);
        put_options(stream, cli_commands[i]);
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
