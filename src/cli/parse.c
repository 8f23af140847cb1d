/* SPDX-License-Identifier: MIT
 * Words into options and operands, by the command's table: --name, --name=value, --name value, -n, -nvalue, -n value;
 * options may stand anywhere, and "--" ends them. */
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/near.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct cli_given {
    const struct cli_option *option;
    const char *value; /* NULL for an option without one */
};

/* The words that are still to be read. */
struct words {
    char **next;
    int left;
    char **all;
    int count;
};

enum { OPTIONS_AT_MOST = 64, CHOICES_AT_MOST = 16 };

/* ---- looking up ---- */

/* The option of that name, which need not end with a NUL; NULL when there is none. */
static const struct cli_option *find_long(const struct cli_command *command, const char *name, size_t length)
{
    for (const struct cli_option *option = command->options; option->name; option++)
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0) return option;
    return strlen(cli_help_option.name) == length && memcmp(cli_help_option.name, name, length) == 0 ? &cli_help_option
                                                                                                     : NULL;
}

/* Likewise of a letter. */
static const struct cli_option *find_letter(const struct cli_command *command, char letter)
{
    for (const struct cli_option *option = command->options; option->name; option++)
        if (option->letter == letter) return option;
    return cli_help_option.letter == letter ? &cli_help_option : NULL;
}

/* ---- complaints ---- */

/* Where the options are explained. */
static const char *help_hint(const struct cli_command *command, char *buffer, size_t size)
{
    snprintf(buffer, size, "shapeproof %s --help lists the options", command->name);
    return buffer;
}

/* "--total is an option of solve"; false when no command has it. */
static bool find_elsewhere(const char *name, char *hint, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; cli_commands[i]; i++) {
        const struct cli_option *option = find_long(cli_commands[i], name, strlen(name));
        if (!option || option->hidden || length >= size) continue;
        length += length ? (size_t)snprintf(hint + length, size - length, ", %s", cli_commands[i]->name)
                         : (size_t)snprintf(hint, size, "--%s is an option of %s", name, cli_commands[i]->name);
    }
    return length > 0;
}

/* An option that the command does not have; suggests one that is written alike, or else the commands that have it. */
static bool complain_unknown(const struct cli_command *command, const char *name, int length)
{
    char hint[256], word[64];
    const char *names[OPTIONS_AT_MOST];
    size_t count = 0;
    for (const struct cli_option *option = command->options; option->name && count + 1 < OPTIONS_AT_MOST; option++)
        if (!option->hidden) names[count++] = option->name;
    names[count++] = cli_help_option.name;
    snprintf(word, sizeof word, "%.*s", length, name);
    const char *likely = sp_suggest(word, names, count);
    if (likely) snprintf(hint, sizeof hint, "did you mean '--%s'?", likely);
    else if (!find_elsewhere(word, hint, sizeof hint)) help_hint(command, hint, sizeof hint);
    cli_usage_error(hint, "%s: unknown option '--%.*s'", command->name, length, name);
    return false;
}

/* Puts the one of the words in "a|b|c" that is written like the value, or is it in other letters; false if none is. Of
 * "htm=page", "htm" is the value. */
static bool suggest_choice(const char *choices, const char *given, char *hint, size_t size)
{
    char words[256], value[64];
    const char *names[CHOICES_AT_MOST];
    size_t count = 0;
    snprintf(words, sizeof words, "%s", choices);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(given, "="), given);
    for (char *word = words, *end; *word && count < CHOICES_AT_MOST; word = end) {
        end = word + strcspn(word, "|");
        if (*end) *end++ = '\0';
        names[count++] = word;
    }
    const char *likely = sp_suggest(value, names, count);
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(names[i], value) == 0) likely = names[i];
    if (likely && strcmp(likely, value) == 0) likely = NULL; /* the FILE is what is wrong */
    if (likely) snprintf(hint, size, "did you mean '%s'?", likely);
    return likely;
}

/* A value that the option cannot have. */
static bool complain_value(const struct cli_command *command, const struct cli_option *option, const char *value)
{
    char hint[256];
    const bool number = strcmp(option->argument, "N") == 0;
    if (number && cli_is_figure(value) && find_long(command, "rounds-to", strlen("rounds-to")))
        snprintf(hint, sizeof hint, "a rounded number of parameters is given with --rounds-to: --rounds-to %s", value);
    else if (number || !suggest_choice(option->argument, value, hint, sizeof hint))
        help_hint(command, hint, sizeof hint);
    cli_usage_error(hint, "%s: '%s' is no value for --%s: expected %s%s%s", command->name, value, option->name,
                    number ? "a number" : "one of ", number ? "" : option->argument,
                    option->takes_file ? "[=FILE]" : "");
    return false;
}

/* ---- values ---- */

bool cli_is_choice(const struct cli_option *option)
{
    return option->argument && islower((unsigned char)option->argument[0]);
}

/* Whether it is, in that length, one of the words in "a|b|c". */
static bool is_choice(const char *choices, const char *value, size_t length)
{
    for (const char *choice = choices;; choice += strcspn(choice, "|") + 1) {
        const size_t size = strcspn(choice, "|");
        if (size == length && memcmp(choice, value, size) == 0) return true;
        if (!choice[size]) return false;
    }
}

/* 124439808 or 124,439,808, as reports have it. Up to 18 digits, so that nothing overflows. */
static bool is_decimal_number(const char *value)
{
    size_t digits = 0, group = 0;
    bool grouped = false;
    for (; *value; value++) {
        if (*value == ',') {
            if (grouped ? group != 3 : group < 1 || group > 3) return false;
            grouped = true;
            group = 0;
        } else if (isdigit((unsigned char)*value)) digits++, group++;
        else return false;
    }
    return digits && digits <= 18 && (!grouped || group == 3);
}

/* What any text may be is valid. A FILE may follow a choice, "html=report.html". */
static bool is_valid(const struct cli_option *option, const char *value)
{
    if (strcmp(option->argument, "N") == 0) return is_decimal_number(value);
    if (!cli_is_choice(option) || option->is_open) return true;
    const size_t length = option->takes_file ? strcspn(value, "=") : strlen(value);
    return is_choice(option->argument, value, length) && strcmp(value + length, "=") != 0 &&
           strcmp(value + length, "=-") != 0; /* stdout is meant without it */
}

/* Notes an option; a later one of the same name does not replace it. */
static bool give(struct cli_args *args, const struct cli_option *option, const char *value)
{
    if (value && !is_valid(option, value)) return complain_value(args->command, option, value);
    args->given[args->given_count++] = (struct cli_given){option, value};
    return true;
}

/* Whether a word gives that option: --name, --name=value, -n, -nvalue. */
static bool is_given(const struct words *words, const struct cli_option *option)
{
    const size_t length = strlen(option->name);
    for (int i = 0; i < words->count && strcmp(words->all[i], "--") != 0; i++) {
        const char *word = words->all[i];
        if (word[0] != '-') continue;
        if (word[1] == option->letter && word[1] != '-') return true;
        if (word[1] == '-' && strncmp(word + 2, option->name, length) == 0 &&
            (!word[length + 2] || word[length + 2] == '='))
            return true;
    }
    return false;
}

/* Whether the option is one without a value on this command line. */
static bool is_alone(const struct cli_command *command, const struct words *words, const struct cli_option *option)
{
    if (!option->argument) return true;
    return option->value_with && !is_given(words, find_long(command, option->value_with, strlen(option->value_with)));
}

/* `attached` is what stands in the same word behind "=" or the letter, or NULL. */
static bool give_next(struct cli_args *args, const struct cli_option *option, const char *attached, struct words *words)
{
    if (attached || is_alone(args->command, words, option)) return give(args, option, attached);
    if (words->left) {
        words->left--;
        return give(args, option, *words->next++);
    }
    char hint[128];
    cli_usage_error(help_hint(args->command, hint, sizeof hint), "%s: --%s needs a value: %s", args->command->name,
                    option->name, option->argument);
    return false;
}

/* ---- formats ---- */

/* The format of stdout that an option asks for: "json" of --json and of --format=json; NULL of an option about anything
 * else, such as a FILE. */
static const char *format_asked(const struct cli_given *given)
{
    static const char *const aliases[] = {"json", "csv", "markdown"};
    if (strcmp(given->option->name, "format") == 0) return strchr(given->value, '=') ? NULL : given->value;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!given->option->argument && strcmp(given->option->name, aliases[i]) == 0) return aliases[i];
    return NULL;
}

const char *cli_format_name(const struct cli_args *args)
{
    const char *name = "text";
    for (size_t i = 0; i < args->given_count; i++)
        if (format_asked(&args->given[i])) name = format_asked(&args->given[i]);
    return name;
}

const char *cli_next_format_file(const struct cli_args *args, size_t *position)
{
    if (!cli_has_option(args, "format")) return NULL;
    const char *word = NULL;
    while ((word = cli_next_value(args, "format", position)) && !strchr(word, '=')) continue;
    return word;
}

/* Puts the option as a user writes it: "--json", "--format csv". */
static void name_given(char *buffer, size_t size, const struct cli_given *given)
{
    snprintf(buffer, size, "--%s%s%s", given->option->name, given->value ? " " : "", given->value ? given->value : "");
}

/* False after an error was printed: nothing is to go to stdout, and something is asked for there. */
static bool quiet_agrees(const struct cli_args *args)
{
    if (!cli_has_option(args, "quiet") || !cli_flag(args, "quiet")) return true;
    const char *asked = NULL;
    char option[64];
    for (size_t i = 0; i < args->given_count && !asked; i++)
        if (format_asked(&args->given[i])) {
            name_given(option, sizeof option, &args->given[i]);
            asked = option;
        }
    if (!asked && cli_value(args, "output", NULL)) asked = "--output";
    if (asked) cli_usage_error(NULL, "%s: --quiet does not go with %s", args->command->name, asked);
    return !asked;
}

/* False after an error was printed: two options ask for different formats of stdout. */
static bool formats_agree(const struct cli_args *args)
{
    const struct cli_given *first = NULL;
    for (size_t i = 0; i < args->given_count; i++) {
        const struct cli_given *given = &args->given[i];
        if (!format_asked(given)) continue;
        if (first && strcmp(format_asked(first), format_asked(given)) != 0) {
            char one[64], other[64];
            name_given(one, sizeof one, first);
            name_given(other, sizeof other, given);
            cli_usage_error("only one report can go to stdout: --format FORMAT=FILE writes another one to a file",
                            "%s: %s does not go with %s", args->command->name, one, other);
            return false;
        }
        first = given;
    }
    return true;
}

/* ---- words ---- */

/* --name, --name=value, --name value. */
static bool read_long(struct cli_args *args, const char *word, struct words *words)
{
    const size_t length = strcspn(word, "=");
    const struct cli_option *option = find_long(args->command, word, length);
    const char *attached = word[length] ? word + length + 1 : NULL;
    if (!option) return complain_unknown(args->command, word, (int)length);
    if (attached && !option->argument) {
        cli_usage_error(NULL, "%s: --%s takes no value", args->command->name, option->name);
        return false;
    }
    return give_next(args, option, attached, words);
}

/* -t, -tv (two flags), -d2 and -d 2. */
static bool read_letters(struct cli_args *args, const char *letters, struct words *words)
{
    for (; *letters; letters++) {
        const struct cli_option *option = find_letter(args->command, *letters);
        if (!option) {
            char hint[128];
            cli_usage_error(help_hint(args->command, hint, sizeof hint), "%s: unknown option '-%c'",
                            args->command->name, *letters);
            return false;
        }
        if (option->argument) return give_next(args, option, letters[1] ? letters + 1 : NULL, words);
        if (!give(args, option, NULL)) return false;
    }
    return true;
}

/* Options and operands, until the words end or one is wrong. */
static bool read_words(struct cli_args *args, struct words words)
{
    bool options_ended = false;
    while (words.left) {
        const char *word = *words.next++;
        words.left--;
        if (options_ended || word[0] != '-' || !word[1]) args->operands[args->operand_count++] = word;
        else if (strcmp(word, "--") == 0) options_ended = true;
        else if (!(word[1] == '-' ? read_long(args, word + 2, &words) : read_letters(args, word + 1, &words)))
            return false;
    }
    return true;
}

static char *usage_hint(const struct cli_command *command, char *buffer, size_t size)
{
    snprintf(buffer, size, "usage: shapeproof %s [OPTION]... %s", command->name, command->operands);
    return buffer;
}

void cli_complain_of_too_few(const struct cli_args *args)
{
    char hint[256];
    cli_usage_error(usage_hint(args->command, hint, sizeof hint), "%s: expected %s", args->command->name,
                    args->command->operands);
}

/* Whether there are as many as the command takes. */
static bool check_operands(const struct cli_args *args)
{
    const struct cli_command *command = args->command;
    char hint[512];
    if (args->operand_count < command->least) cli_complain_of_too_few(args);
    else if (args->operand_count > command->most) {
        cli_hint_of_operand(args, args->operands[command->most], usage_hint(command, hint, sizeof hint), sizeof hint);
        cli_usage_error(hint, "%s: '%s' is one argument too many", command->name, args->operands[command->most]);
    } else return true;
    return false;
}

bool cli_parse(struct cli_args *args, const struct cli_command *command, int count, char **words)
{
    *args = (struct cli_args){.command = command};
    /* A word of letters can hold several options: as many as it has characters. */
    size_t most = 1;
    for (int i = 0; i < count; i++) most += strlen(words[i]);
    args->operands = calloc(most + (size_t)count, sizeof *args->operands);
    args->given = calloc(most, sizeof *args->given);
    if (!args->operands || !args->given) cli_out_of_memory();
    return read_words(args, (struct words){words, count, words, count}) &&
           (cli_flag(args, "help") || (formats_agree(args) && quiet_agrees(args) && check_operands(args)));
}

void cli_args_free(struct cli_args *args)
{
    cli_free_remotes(args);
    shapeproof_run_close(args->run);
    for (size_t i = 0; i < args->owned_count; i++) shapeproof_free(args->owned[i]);
    free(args->owned);
    free(args->operands);
    free(args->given);
}

struct cli_args cli_args_for(const struct cli_args *args, const char *operand, const char *flag)
{
    struct cli_args one = {.command = args->command, .operand_count = 1};
    one.operands = calloc(1, sizeof *one.operands);
    one.given = calloc(args->given_count + 2, sizeof *one.given); /* room for the flag, and for an option */
    if (!one.operands || !one.given) cli_out_of_memory();
    one.operands[0] = operand;
    for (size_t i = 0; i < args->given_count; i++) one.given[one.given_count++] = args->given[i];
    one.given[one.given_count++] = (struct cli_given){find_long(args->command, flag, strlen(flag)), NULL};
    return one;
}

void cli_args_add(struct cli_args *args, const char *option, const char *value)
{
    args->given[args->given_count++] = (struct cli_given){find_long(args->command, option, strlen(option)), value};
}

/* ---- what was given ---- */

const char *cli_next_value(const struct cli_args *args, const char *name, size_t *position)
{
    const struct cli_option *option = find_long(args->command, name, strlen(name));
    assert(option && option->argument);
    while (*position < args->given_count) {
        const struct cli_given *given = &args->given[(*position)++];
        if (given->option == option) return given->value;
    }
    return NULL;
}

bool cli_has_option(const struct cli_args *args, const char *name)
{
    return find_long(args->command, name, strlen(name)) != NULL;
}

bool cli_flag(const struct cli_args *args, const char *name)
{
    const struct cli_option *option = find_long(args->command, name, strlen(name));
    assert(option && !option->argument);
    for (size_t i = 0; i < args->given_count; i++)
        if (args->given[i].option == option) return true;
    return false;
}

bool cli_flag_alone(const struct cli_args *args, const char *name)
{
    const struct cli_option *option = find_long(args->command, name, strlen(name));
    for (size_t i = 0; option && i < args->given_count; i++)
        if (args->given[i].option == option && !args->given[i].value) return true;
    return false;
}

const char *cli_value(const struct cli_args *args, const char *name, const char *fallback)
{
    size_t position = 0;
    for (const char *value; (value = cli_next_value(args, name, &position));) fallback = value;
    return fallback;
}

const char *cli_operand(const struct cli_args *args) { return args->operand_count ? args->operands[0] : NULL; }

uint64_t cli_number(const struct cli_args *args, const char *name, uint64_t fallback)
{
    const char *value = cli_value(args, name, NULL);
    uint64_t number = 0;
    if (!value) return fallback;
    for (; *value; value++)
        if (*value != ',') number = number * 10 + (uint64_t)(*value - '0');
    return number;
}
