/* SPDX-License-Identifier: MIT
 * Near misses: the command that was most likely meant by an operand that a command cannot take. Each function here
 * writes a hint, and leaves the buffer as it is when nothing is near. */
#include "cli/near.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/suggest.h"

enum { LONGEST_PATH = 4096, LONGEST_LINE = 512 };

/* ---- what a word looks like ---- */

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), size = strlen(ending);
    return length > size && strcasecmp(text + length - size, ending) == 0;
}

static bool is_configuration(const char *path)
{
    static const char *const endings[] = {".json", ".yaml", ".yml", ".hpm"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, endings[i])) return !ends_with(path, ".index.json");
    return false;
}

static bool is_table_file(const char *path) { return ends_with(path, ".shapes") || ends_with(path, ".claims"); }

/* Whether a file of the table language has claims and no table. */
static bool has_only_claims(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[LONGEST_LINE];
    bool has_claims = false, has_table = false;
    while (file && fgets(line, sizeof line, file)) {
        has_claims = has_claims || strncmp(line, "claims ", 7) == 0;
        has_table = has_table || strncmp(line, "table ", 6) == 0;
    }
    if (file) fclose(file);
    return has_claims && !has_table;
}

/* n_layer=12, as --set takes it. */
static bool is_setting(const char *word)
{
    size_t length = 0;
    if (!isalpha((unsigned char)*word)) return false;
    while (isalnum((unsigned char)word[length]) || word[length] == '_' || word[length] == '.') length++;
    return word[length] == '=' && word[length + 1] && !strpbrk(word + length + 1, " =");
}

/* 124439808 or 124,439,808. */
static bool is_count(const char *word) { return isdigit((unsigned char)*word) && !word[strspn(word, "0123456789,")]; }

bool cli_is_figure(const char *word)
{
    const size_t digits = strspn(word, "0123456789"),
                 fraction = word[digits] == '.' ? 1 + strspn(word + digits + 1, "0123456789") : 0;
    return digits && fraction != 1 && word[digits + fraction] && strchr("kKmMbBtT", word[digits + fraction]) &&
           !word[digits + fraction + 1];
}

/* An expression or a claim: [embedding] / total, 2*d, total/2. A slash alone is no sign of one: paths have it. */
static bool is_expression(const char *word)
{
    const bool has_total = strncmp(word, "total", 5) == 0 && !isalnum((unsigned char)word[5]) && word[5] != '_';
    return has_total || strpbrk(word, "[]()*+<>= ") != NULL;
}

/* One part of ORG/NAME. A name may have dots, as in phi-1.5; a dot and a letter begin the ending of a file. */
static bool is_hub_name(const char *name, size_t length)
{
    if (!length || !isalnum((unsigned char)*name)) return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i])) return false;
        if (name[i] == '.' && isalpha((unsigned char)name[i + 1])) return false;
    }
    return true;
}

/* ORG/NAME as repositories of the hub are called, where ORG is no folder here. */
static bool is_hub_repository(const char *path)
{
    const char *slash = strchr(path, '/');
    char folder[LONGEST_PATH];
    if (!slash || strchr(slash + 1, '/') || slash - path >= LONGEST_PATH) return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return is_hub_name(path, (size_t)(slash - path)) && is_hub_name(slash + 1, strlen(slash + 1)) &&
           access(folder, F_OK) != 0;
}

char *cli_quoted(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=,@:";
    const bool is_plain = *word && !word[strspn(word, plain)];
    char *quoted = malloc(4 * strlen(word) + 3), *end = quoted;
    if (!quoted) cli_out_of_memory();
    if (!is_plain) *end++ = '\'';
    for (; *word; word++) {
        if (*word == '\'') { /* the quotes end, a quote by itself, and they begin again */
            memcpy(end, "'\\''", 4);
            end += 4;
        } else *end++ = *word;
    }
    if (!is_plain) *end++ = '\'';
    *end = '\0';
    return quoted;
}

/* ---- names of tables and models ---- */

const char *cli_table_called(const struct shapeproof_tables *tables, const char *name)
{
    const char *called = NULL;
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const char *other = shapeproof_tables_info(tables, i)->name;
        if (strcmp(other, name) == 0) return other;
        if (!called && strcasecmp(other, name) == 0) called = other;
    }
    return called;
}

/* Appends the name of a published model to `names`, and of torchvision/resnet50 also "resnet50". */
static void put_model_name(const char **names, size_t *count, const char *name)
{
    names[(*count)++] = name;
    if (strchr(name, '/')) names[(*count)++] = strrchr(name, '/') + 1;
}

const char *cli_name_like(const struct shapeproof_tables *tables, const struct shapeproof_models *models,
                          const char *name)
{
    const size_t table_count = shapeproof_tables_count(tables),
                 model_count = models ? shapeproof_models_count(models) : 0;
    const char **names = calloc(table_count + 2 * model_count + 1, sizeof *names);
    size_t count = 0;
    if (!names) cli_out_of_memory();
    for (size_t i = 0; i < table_count; i++) names[count++] = shapeproof_tables_info(tables, i)->name;
    for (size_t i = 0; i < model_count; i++) put_model_name(names, &count, shapeproof_models_get(models, i)->name);
    const char *likely = sp_suggest_name(name, names, count);
    free(names);
    return likely;
}

/* The published model that a repository of the hub is of: "Llama-3.1-8B-Instruct" -> llama-3.1-8b; NULL when there is
 * none. */
static const char *model_of_repository(const struct shapeproof_models *models, const char *name)
{
    const size_t model_count = models ? shapeproof_models_count(models) : 0;
    const char **names = calloc(4 * model_count + 1, sizeof *names);
    size_t count = 0;
    if (!names) cli_out_of_memory();
    for (size_t i = 0; i < model_count; i++) {
        const struct shapeproof_model *model = shapeproof_models_get(models, i);
        put_model_name(names, &count, model->name);
        if (model->hub) put_model_name(names, &count, model->hub);
    }
    const char *begun = sp_name_begun(name, names, count);
    const struct shapeproof_model *model = begun ? shapeproof_models_find(models, begun) : NULL;
    free(names);
    return model ? model->name : NULL;
}

/* Whether `predict` takes the word. */
static bool is_table_or_model(const char *word)
{
    struct shapeproof_error ignored = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&ignored);
    struct shapeproof_models *models = shapeproof_models_new(&ignored);
    const bool is = (tables && cli_table_called(tables, word)) || (models && shapeproof_models_find(models, word));
    shapeproof_models_free(models);
    shapeproof_tables_free(tables);
    return is;
}

/* ---- hints ---- */

/* Of ORG/NAME, where a table or a published model is wanted: a model that is called so, or the repository. */
static void hint_of_repository(const char *repository, char *hint, size_t size)
{
    struct shapeproof_error ignored = {0};
    struct shapeproof_models *models = shapeproof_models_new(&ignored);
    const char *model = model_of_repository(models, strchr(repository, '/') + 1);
    if (model)
        snprintf(hint, size, "did you mean '%s'? shapeproof inspect hf://%s lists the repository", model, repository);
    else snprintf(hint, size, "to list a repository of the Hugging Face hub: shapeproof inspect hf://%s", repository);
    shapeproof_models_free(models);
}

/* Of a file or folder that exists. */
static void hint_of_file(const struct cli_args *args, const char *path, const char *quoted, char *hint, size_t size)
{
    const char *name = args->command->name;
    char beside[LONGEST_PATH];
    snprintf(beside, sizeof beside, "%s/config.json", path);
    if (is_table_file(path) && has_only_claims(path))
        snprintf(hint, size,
                 cli_has_option(args, "claims") ? "a file of claims is given with --claims: --claims %s"
                                                : "it is a file of claims: shapeproof prove --claims %s",
                 quoted);
    else if (is_table_file(path) && cli_has_option(args, "table"))
        snprintf(hint, size, "a table file is given with --table: --table %s", quoted);
    else if (is_configuration(path) && cli_has_option(args, "config"))
        snprintf(hint, size, "a configuration is given with --config: --config %s", quoted);
    else if (args->command->checkpoints && args->command->most == 1 && args->operand_count == 2) {
        char *first = cli_quoted(args->operands[0]);
        snprintf(hint, size,
                 is_configuration(path) ? "to compare it with a configuration: shapeproof check %s --config %s"
                                        : "to compare two checkpoints: shapeproof diff %s %s",
                 first, quoted);
        free(first);
    } else if (cli_has_option(args, "checkpoint"))
        snprintf(hint, size, "a checkpoint is given with --checkpoint: --checkpoint %s", quoted);
    else if (cli_has_option(args, "config") && !args->command->checkpoints && access(beside, F_OK) == 0)
        snprintf(hint, size, "for the configuration of a checkpoint: shapeproof %s --config %s/config.json", name,
                 quoted);
    else if (!args->command->checkpoints) snprintf(hint, size, "to list a checkpoint: shapeproof inspect %s", quoted);
}

/* Of the first operand, where it is an expression and the table or the model comes behind it. */
static bool hint_of_order(const struct cli_args *args, const char *operand, char *hint, size_t size)
{
    if (!is_expression(operand) || operand != args->operands[0]) return false;
    for (size_t i = 1; i < args->operand_count; i++) {
        if (is_expression(args->operands[i]) || !is_table_or_model(args->operands[i])) continue;
        snprintf(hint, size, "the table or the model comes first: shapeproof %s %s ...", args->command->name,
                 args->operands[i]);
        return true;
    }
    return false;
}

void cli_hint_of_operand(const struct cli_args *args, const char *operand, char *hint, size_t size)
{
    char *quoted = cli_quoted(operand);
    const bool is_claim = cli_has_option(args, "claim") && is_expression(operand) && strchr(operand, '=');
    const bool has_table = args->operand_count > 1 && operand != args->operands[0];
    if (access(operand, F_OK) == 0) hint_of_file(args, operand, quoted, hint, size);
    else if (is_table_file(operand) || is_configuration(operand))
        snprintf(hint, size, "there is no file '%s' either", operand);
    else if (is_setting(operand) && !(is_claim && strncmp(operand, "total", 5) == 0) && cli_has_option(args, "set"))
        snprintf(hint, size, "a hyper-parameter is set with --set: --set %s", quoted);
    else if (is_count(operand) && cli_has_option(args, "total"))
        snprintf(hint, size, "a number of parameters is given with --total: --total %s", quoted);
    else if (cli_is_figure(operand) && cli_has_option(args, "rounds-to"))
        snprintf(hint, size, "a rounded number of parameters is given with --rounds-to: --rounds-to %s", quoted);
    else if (cli_has_option(args, "memory") && cli_read_size(operand, cli_units_of_bytes))
        snprintf(hint, size, "the size of a memory is given with --memory: --memory %s", quoted);
    else if (is_claim) snprintf(hint, size, "a claim is given with --claim: --claim %s", quoted);
    else if (!args->command->checkpoints && is_hub_repository(operand) && !is_expression(operand))
        hint_of_repository(operand, hint, size);
    else if (is_expression(operand) && cli_has_option(args, "measure") && cli_has_option(args, "total"))
        snprintf(hint, size, "an expression is given with --measure: --measure %s", quoted);
    else if (!hint_of_order(args, operand, hint, size) && is_expression(operand) && !args->command->checkpoints)
        snprintf(hint, size, "to compute an expression: shapeproof eval %s %s", has_table ? args->operands[0] : "TABLE",
                 quoted);
    free(quoted);
}

/* Of what is called as a table or a published model but for capitals, "-", "_" and ".": GPT-2. */
static void hint_of_known_name(const char *word, char *hint, size_t size)
{
    struct shapeproof_error ignored = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&ignored);
    struct shapeproof_models *models = shapeproof_models_new(&ignored);
    const char *likely = tables ? cli_name_like(tables, models, word) : NULL;
    if (likely && sp_is_same_name(likely, word))
        snprintf(hint, size, "'%s' is known by name: shapeproof predict %s lists what it should hold", likely, likely);
    shapeproof_models_free(models);
    shapeproof_tables_free(tables);
}

void cli_hint_of_path(const char *path, char *hint, size_t size)
{
    char *quoted = cli_quoted(path);
    const bool exists = access(path, F_OK) == 0;
    if (!exists && is_hub_repository(path))
        snprintf(hint, size, "a repository of the Hugging Face hub is read with hf:// in front: hf://%s", path);
    else if (!exists && !strchr(path, '/') && is_table_or_model(path))
        snprintf(hint, size, "'%s' is known by name: shapeproof predict %s lists what it should hold", path, quoted);
    else if (!exists && !strchr(path, '/')) hint_of_known_name(path, hint, size);
    else if (exists && is_table_file(path))
        snprintf(hint, size,
                 has_only_claims(path) ? "it is a file of claims: shapeproof prove --claims %s"
                                       : "it is a table: shapeproof predict --table %s",
                 quoted);
    else if (exists && is_configuration(path))
        snprintf(hint, size, "a configuration is no checkpoint: shapeproof predict --config %s lists what it implies",
                 quoted);
    free(quoted);
}

int cli_path_error(const char *path, const struct shapeproof_error *error)
{
    struct shapeproof_error led = *error;
    char hint[LONGEST_LINE] = "";
    if (led.status == SHAPEPROOF_ERR_FILE && !led.hint[0]) cli_hint_of_path(path, hint, sizeof hint);
    if (hint[0]) cli_hint(&led, "%s", hint);
    return cli_error_about(path, &led);
}
