/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "cli/subject.h"
#include "cli/near.h"
#include "config/settings.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

/* The table of a user's file, when it has just one: then no model_type is needed to choose it. A built-in table's
 * source may be called as the file is. */
static const char *only_table_of(const struct shapeproof_tables *tables, const char *path)
{
    const char *only = NULL;
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const struct shapeproof_table_info *info = shapeproof_tables_info(tables, i);
        if (strcmp(info->file, path) != 0 || strcmp(shapeproof_tables_kind(tables, i), "own") != 0) continue;
        if (only) return NULL;
        only = info->name;
    }
    return only;
}

/* Whether the name ends as that of a file does: in a dot and a letter. "mine.shapes", but not "llama-3.1-8b". */
static bool has_ending(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && isalpha((unsigned char)dot[1]);
}

/* A directory that is called like a table, as checkpoints are, does not hide the table; "./gpt2" is the file. No
 * table has a dot in its name: a name with an ending is always that of a file, so that a missing file is reported as
 * such. */
static bool is_name(const struct shapeproof_tables *tables, const char *table)
{
    if (strchr(table, '/')) return false;
    return cli_table_called(tables, table) || (!has_ending(table) && access(table, F_OK) != 0);
}

int cli_add_table_file(struct shapeproof_tables *tables, const char *file)
{
    struct shapeproof_error error = {0};
    if (shapeproof_tables_add_file(tables, file, &error) == SHAPEPROOF_OK) return CLI_OK;
    if (error.status == SHAPEPROOF_ERR_TABLE)
        return cli_mistakes(CLI_TABLE, &error, shapeproof_tables_messages(tables));
    cli_error(&error);
    return CLI_TABLE;
}

int cli_add_claims(struct cli_subject *subject, const struct cli_args *args)
{
    const char *file;
    int status = CLI_OK;
    for (size_t position = 0; status == CLI_OK && (file = cli_next_value(args, "claims", &position)) != NULL;)
        status = cli_add_table_file(subject->tables, file);
    return status;
}

void cli_warn_of_claims(const struct shapeproof_tables *tables)
{
    char line[512];
    for (const char *rest = shapeproof_tables_remarks(tables); *rest;) {
        const size_t length = strcspn(rest, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), rest);
        cli_warning(NULL, line);
        rest += length + (rest[length] == '\n');
    }
}

/* ---- folders of tables ---- */

bool cli_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int is_table_file(const struct dirent *entry)
{
    static const char ending[] = ".shapes";
    const size_t length = strlen(entry->d_name), size = sizeof ending - 1;
    return entry->d_name[0] != '.' && length > size && strcmp(entry->d_name + length - size, ending) == 0;
}

static int compare_entries(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

/* Each of its *.shapes, in the order of their names. Which of them is used the configuration says. */
static int add_folder(struct shapeproof_tables *tables, const char *folder)
{
    struct dirent **entries = NULL;
    char path[LONGEST_PATH];
    int status = CLI_OK;
    const int count = scandir(folder, &entries, is_table_file, compare_entries);
    if (count <= 0)
        status = cli_complain(CLI_TABLE, NULL, "%s: %s", folder,
                              count ? "cannot be listed" : "there is no .shapes file in this folder");
    for (int i = 0; i < count; i++) {
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (status == CLI_OK && length > 0 && (size_t)length < sizeof path) status = cli_add_table_file(tables, path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* SHAPEPROOF_TABLES: files and folders, parted by colons. */
static int add_tables_of_environment(struct shapeproof_tables *tables)
{
    const char *list = getenv("SHAPEPROOF_TABLES");
    char path[LONGEST_PATH];
    int status = CLI_OK;
    while (list && *list && status == CLI_OK) {
        const size_t length = strcspn(list, ":");
        if (length && length < sizeof path) {
            memcpy(path, list, length);
            path[length] = '\0';
            status = cli_is_folder(path) ? add_folder(tables, path) : cli_add_table_file(tables, path);
        }
        list += length + (list[length] == ':');
    }
    return status;
}

/* Each --table is a file or a folder to add or the name of the table to use; of names the last one counts. */
static int add_tables(struct cli_subject *subject, const struct cli_args *args)
{
    const char *table;
    const int given = add_tables_of_environment(subject->tables);
    if (given != CLI_OK) return given;
    for (size_t position = 0; (table = cli_next_value(args, "table", &position)) != NULL;) {
        if (is_name(subject->tables, table)) {
            const char *called = cli_table_called(subject->tables, table);
            subject->table_name = called ? called : table; /* checked when it is looked up */
            continue;
        }
        const bool folder = cli_is_folder(table);
        const int status = folder ? add_folder(subject->tables, table) : cli_add_table_file(subject->tables, table);
        if (status != CLI_OK) return status;
        const char *only = only_table_of(subject->tables, table);
        if (only) subject->table_name = only;
    }
    return CLI_OK;
}

/* ---- published models ---- */

const struct shapeproof_models *cli_subject_models(struct cli_subject *subject)
{
    struct shapeproof_error error = {0};
    if (!subject->models && !(subject->models = shapeproof_models_new(&error))) cli_error(&error);
    return subject->models;
}

/* Loads the hyper-parameters of the published model of that name. False when there is none. */
static bool find_model(struct cli_subject *subject, const char *name)
{
    const struct shapeproof_models *models = cli_subject_models(subject);
    const struct shapeproof_model *model = models ? shapeproof_models_find(models, name) : NULL;
    if (model) shapeproof_config_take_model(subject->config, model);
    return model;
}

/* What --model names, for commands that have it; or NULL. */
static const char *given_model(const struct cli_args *args)
{
    return cli_has_option(args, "model") ? cli_value(args, "model", NULL) : NULL;
}

bool cli_subject_take_model(struct cli_subject *subject, const char *name)
{
    return !cli_table_called(subject->tables, name) && find_model(subject, name);
}

int cli_subject_take(struct cli_subject *subject, const struct cli_args *args, const char *name)
{
    if (!name) return CLI_OK;
    const bool told = cli_value(args, "config", NULL) || given_model(args);
    if (!told && cli_subject_take_model(subject, name)) return CLI_OK;
    const char *table = cli_table_called(subject->tables, name);
    if (!table) return cli_complain_of_name(subject, args, name);
    subject->table_name = table;
    subject->is_named = true;
    return CLI_OK;
}

/* Of a published model where a table is needed: names its table. */
static void hint_of_model(const struct cli_subject *subject, const struct shapeproof_model *model, char *hint,
                          size_t size)
{
    struct shapeproof_error ignored = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    shapeproof_config_take_model(config, model);
    struct shapeproof_prediction *prediction = shapeproof_predict(subject->tables, config, NULL, &ignored);
    if (prediction)
        snprintf(hint, size, "'%s' is a published model: give the name of its table, %s", model->name,
                 shapeproof_prediction_table(prediction));
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
}

/* --table with the name of a published model; that of no table is reported when it is looked up. */
static int refuse_model_as_table(struct cli_subject *subject, const struct cli_args *args)
{
    const char *name = subject->table_name;
    if (!name || cli_table_called(subject->tables, name)) return CLI_OK;
    const struct shapeproof_models *models = cli_subject_models(subject);
    const struct shapeproof_model *model = models ? shapeproof_models_find(models, name) : NULL;
    char hint[512] = "";
    if (!model) return CLI_OK;
    if (cli_has_option(args, "model"))
        snprintf(hint, sizeof hint, "'%s' is a published model: --model %s", name, model->name);
    else hint_of_model(subject, model, hint, sizeof hint);
    return cli_usage_error(hint, "there is no table '%s'", name);
}

int cli_complain_of_name(struct cli_subject *subject, const struct cli_args *args, const char *name)
{
    char hint[512] = "";
    const struct shapeproof_models *models = cli_subject_models(subject);
    const struct shapeproof_model *model = models ? shapeproof_models_find(models, name) : NULL;
    if (model) hint_of_model(subject, model, hint, sizeof hint);
    else cli_hint_of_operand(args, name, hint, sizeof hint);
    const char *likely = *hint ? NULL : cli_name_like(subject->tables, models, name);
    if (likely) snprintf(hint, sizeof hint, "did you mean '%s'?", likely);
    else if (!*hint) snprintf(hint, sizeof hint, "'shapeproof tables' and 'shapeproof models' list them");
    return cli_usage_error(hint, "there is no table%s '%s'", model ? "" : " and no published model", name);
}

/* ---- settings ---- */

/* Of --config with a folder: the config.json in it. */
static void hint_of_folder(const char *path, struct shapeproof_error *error)
{
    char file[LONGEST_PATH];
    const size_t length = strlen(path);
    if (!cli_is_folder(path)) return;
    snprintf(file, sizeof file, "%s%sconfig.json", path, length && path[length - 1] == '/' ? "" : "/");
    if (access(file, F_OK) != 0) return;
    char *quoted = cli_quoted(file);
    cli_hint(error, "--config %s", quoted);
    free(quoted);
}

/* The configuration or the model first, then --set, which wins. */
static int add_settings(struct cli_subject *subject, const struct cli_args *args, const char *config_path)
{
    const char *setting, *model = given_model(args);
    struct shapeproof_error error = {0};
    if (model && cli_value(args, "config", NULL))
        return cli_usage_error(NULL, "--model takes the place of --config: give one of them");
    config_path = model ? NULL : cli_value(args, "config", config_path);
    if (model && !find_model(subject, model))
        return subject->models ? cli_complain_of_model(subject->models, model) : CLI_TABLE;
    if (config_path && shapeproof_config_load(subject->config, config_path, &error) != SHAPEPROOF_OK) {
        hint_of_folder(config_path, &error);
        return cli_error(&error);
    }
    for (size_t i = 0; i < shapeproof_config_remark_count(subject->config); i++)
        cli_warning(config_path, shapeproof_config_remark(subject->config, i));
    for (size_t position = 0; (setting = cli_next_value(args, "set", &position)) != NULL;)
        if (shapeproof_config_set(subject->config, setting, &error) != SHAPEPROOF_OK) return cli_error(&error);
    return CLI_OK;
}

int cli_subject_open_tables(struct cli_subject *subject, const struct cli_args *args)
{
    struct shapeproof_error error = {0};
    *subject = (struct cli_subject){.tables = shapeproof_tables_new(&error), .config = shapeproof_config_new()};
    if (!subject->tables) return cli_error(&error);
    const int status = add_tables(subject, args);
    return status == CLI_OK ? refuse_model_as_table(subject, args) : status;
}

int cli_subject_open(struct cli_subject *subject, const struct cli_args *args, const char *config_path)
{
    const int status = cli_subject_open_tables(subject, args);
    return status == CLI_OK ? add_settings(subject, args, config_path) : status;
}

int cli_subject_fit(struct cli_subject *subject, const struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    if (shapeproof_config_fit(subject->config, subject->tables, subject->table_name, inventory, &error) ==
        SHAPEPROOF_OK)
        return CLI_OK;
    return cli_error(&error);
}

int cli_subject_count_vocabulary(struct cli_subject *subject, const struct cli_args *args)
{
    const char *rule = cli_value(args, "vocabulary", NULL);
    struct shapeproof_error error = {0};
    const enum shapeproof_vocabulary vocabulary = rule && strcmp(rule, "none") == 0     ? SHAPEPROOF_VOCABULARY_NONE
                                                  : rule && strcmp(rule, "nparam") == 0 ? SHAPEPROOF_VOCABULARY_NPARAM
                                                                                        : SHAPEPROOF_VOCABULARY_SOCKEYE;
    if (shapeproof_config_count_vocabulary(subject->config, vocabulary, rule != NULL, &error) == SHAPEPROOF_OK)
        return CLI_OK;
    return cli_error(&error);
}

/* Without a configuration nothing can be said of a checkpoint, unless it is an adapter that is no whole. `denied` is
 * the place that could not be searched for one, or "". */
static int no_configuration(const char *path, const struct shapeproof_inventory *inventory, const char *denied)
{
    bool consistent;
    char hint[512] = "";
    char *adapter = shapeproof_adapter_describe(inventory, &consistent);
    if (consistent && adapter)
        snprintf(hint, sizeof hint, "give --config FILE, that of the base, or --table NAME with --set KEY=VALUE");
    else if (consistent)
        snprintf(hint, sizeof hint,
                 "give --config FILE, or --table NAME with --set KEY=VALUE; 'shapeproof infer %s' looks for them",
                 path);
    char *embedding = adapter ? NULL : shapeproof_embedding_describe(inventory);
    const int status =
        cli_complain(consistent ? CLI_UNKNOWN : CLI_FILE, embedding ? "" : hint, "%s: %s%s%s%s%s%s", path,
                     embedding ? embedding : "", embedding ? "; " : "",
                     adapter   ? adapter
                     : *denied ? "no config.json was found"
                               : "there is no config.json beside it",
                     !adapter || !consistent ? ""
                     : *denied               ? ", and no config.json of its base was found"
                                             : ", and there is no config.json of its base beside it",
                     *denied && consistent ? "; not permitted to look at " : "", consistent ? denied : "");
    shapeproof_free(embedding);
    shapeproof_free(adapter);
    return status;
}

bool cli_is_told(const struct cli_args *args)
{
    return cli_value(args, "config", NULL) || given_model(args) || cli_value(args, "table", NULL) ||
           cli_value(args, "set", NULL);
}

bool cli_subject_is_given(const struct cli_args *args, const char *example)
{
    if (cli_operand(args) || cli_is_told(args)) return true;
    cli_usage_error(example, "%s needs a table, a model or --config", args->command->name);
    return false;
}

int cli_search_config(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory,
                      struct cli_found_config *found)
{
    struct shapeproof_error error = {0};
    *found = (struct cli_found_config){NULL, false, ""};
    if (cli_value(args, "config", NULL) || given_model(args)) return CLI_OK;
    char *hub = cli_hub_cache();
    found->beside =
        shapeproof_config_search(inventory, path, cli_value(args, "table", NULL), hub, &found->inside, &error);
    free(hub);
    if (error.status == SHAPEPROOF_ERR_UNKNOWN) snprintf(found->denied, sizeof found->denied, "%s", error.message);
    else if (error.status != SHAPEPROOF_OK) return cli_error_about(path, &error);
    return CLI_OK;
}

void cli_warn_of_search(const char *path, const char *denied)
{
    char message[1200];
    if (!*denied) return;
    snprintf(message, sizeof message, "the search for its configuration is incomplete: %s", denied);
    cli_warning(path, message);
}

int cli_subject_open_found(struct cli_subject *subject, const struct cli_args *args,
                           const struct shapeproof_inventory *inventory, const char *beside)
{
    int status = cli_subject_open(subject, args, beside);
    if (status == CLI_OK) status = cli_subject_fit(subject, inventory);
    if (status == CLI_OK) status = cli_subject_count_vocabulary(subject, args);
    return status;
}

int cli_subject_open_for(struct cli_subject *subject, const struct cli_args *args, const char *path,
                         const struct shapeproof_inventory *inventory)
{
    struct cli_found_config found;
    *subject = (struct cli_subject){.tables = NULL};
    int status = cli_search_config(args, path, inventory, &found);
    if (status != CLI_OK) return status;
    if (!found.inside && !found.beside && !cli_is_told(args)) return no_configuration(path, inventory, found.denied);
    cli_warn_of_search(path, found.denied);
    status = cli_subject_open_found(subject, args, inventory, found.beside);
    shapeproof_free(found.beside);
    return status;
}

void cli_subject_close(struct cli_subject *subject)
{
    shapeproof_models_free(subject->models);
    shapeproof_config_free(subject->config);
    shapeproof_tables_free(subject->tables);
}

void cli_name_adapter(const struct shapeproof_inventory *inventory, const char *path, struct shapeproof_error *error)
{
    bool consistent;
    char *adapter = shapeproof_adapter_describe(inventory, &consistent), *visible = shapeproof_report_visible(path);
    if (adapter && consistent) {
        struct shapeproof_error named = *error;
        const size_t length = strlen(visible);
        const char *why = error->message;
        if (strncmp(why, visible, length) == 0 && strncmp(why + length, ": ", 2) == 0) why += length + 2;
        snprintf(named.message, sizeof named.message, "%s: %s; %.400s", visible, adapter, why);
        snprintf(named.hint, sizeof named.hint, "'shapeproof check' takes it with --config FILE, that of the base");
        *error = named;
    }
    shapeproof_free(visible);
    shapeproof_free(adapter);
}

/* Complains of the error of a call that reads the table, or of the setting that made it fail. */
static int complain_of_table(const struct cli_subject *subject, const struct shapeproof_predict_options *what,
                             sp_config_works *works, const struct shapeproof_error *error)
{
    char *mistyped = error->status == SHAPEPROOF_ERR_TABLE && error->kind != SHAPEPROOF_KIND_LIMIT
                         ? sp_mistyped_setting(subject->tables, subject->config, what, works, error->message)
                         : NULL;
    if (!mistyped) return cli_error(error);
    cli_usage_error(NULL, "%s", mistyped);
    shapeproof_free(mistyped);
    return CLI_USAGE;
}

int cli_no_prediction(const struct cli_subject *subject, const struct shapeproof_predict_options *what,
                      const struct shapeproof_error *error)
{
    return complain_of_table(subject, what, sp_config_predicts, error);
}

/* Whether there are formulas for the table: hyper-parameters may be left open. */
static bool is_derived(const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                       const struct shapeproof_predict_options *what)
{
    struct shapeproof_error ignored = {0};
    const struct shapeproof_derive_options options = {.table = what->table};
    struct shapeproof_derivation *derivation = shapeproof_derive(tables, config, &options, &ignored);
    shapeproof_derivation_free(derivation);
    return derivation;
}

int cli_no_formula(const struct cli_subject *subject, const struct shapeproof_error *error)
{
    const struct shapeproof_predict_options what = {.table = subject->table_name};
    return complain_of_table(subject, &what, is_derived, error);
}

int cli_lines_error(const struct cli_subject *subject, const struct shapeproof_error *error)
{
    if (error->status != SHAPEPROOF_ERR_TABLE) return cli_error(error);
    if (cli_captures()) { /* a line of a list has room for the first mistake, without the line of the source */
        struct shapeproof_error first = *error;
        first.status = SHAPEPROOF_ERR_USAGE;
        first.message[strcspn(first.message, "\n")] = '\0';
        return cli_error(&first);
    }
    return cli_mistakes(CLI_USAGE, error, shapeproof_tables_messages(subject->tables));
}

bool cli_complain_of_key(const char *option, const struct shapeproof_prediction *prediction, const char *key)
{
    const char *likely = sp_prediction_key_like(prediction, key);
    char hint[256];
    snprintf(hint, sizeof hint, likely ? "did you mean '%s'?" : "shapeproof tables %s shows what it reads",
             likely ? likely : shapeproof_prediction_table(prediction));
    cli_usage_error(hint, "--%s %s: the table '%s' reads no such key", option, key,
                    shapeproof_prediction_table(prediction));
    return false;
}

bool cli_settings_are_read(const struct cli_subject *subject, const struct shapeproof_prediction *prediction)
{
    char message[512];
    const char *unknown = sp_prediction_unknown_setting(prediction, subject->tables, subject->config);
    if (unknown) return cli_complain_of_key("set", prediction, unknown);
    for (size_t i = 0; i < shapeproof_prediction_unused_count(prediction); i++) {
        snprintf(message, sizeof message, "the table '%s' ignores the setting '%s'",
                 shapeproof_prediction_table(prediction), shapeproof_prediction_unused(prediction, i));
        cli_warning(NULL, message);
    }
    return true;
}

void cli_warn_of_objection(const struct cli_subject *subject, const struct shapeproof_prediction *prediction)
{
    struct shapeproof_error error = {0};
    const char *path = shapeproof_config_path(subject->config);
    char *why = shapeproof_loading_objection(subject->tables, subject->config, subject->table_name, prediction, &error);
    if (why) cli_warning(*path ? path : NULL, why);
    shapeproof_free(why);
}

/* Whether a checkpoint of the configuration stores another number of tensors than the model has, which is `count`. If
 * that cannot be told, for example because too many patterns name modules, the result is false, and the error has a
 * message. */
static bool is_quantised(const struct cli_subject *subject, size_t count, struct shapeproof_error *error)
{
    const struct shapeproof_predict_options what = {.table = subject->table_name, .stored = true};
    struct shapeproof_prediction *stored = shapeproof_predict(subject->tables, subject->config, &what, error);
    const bool is = stored && shapeproof_prediction_count(stored) != count;
    shapeproof_prediction_free(stored);
    return is;
}

void cli_warn_of_quantisation(const struct cli_subject *subject, size_t count, const char *reported)
{
    const char *path = shapeproof_config_path(subject->config);
    struct shapeproof_error error = {0};
    char message[256];
    if (shapeproof_config_quantisation_is_known(subject->config, subject->tables, &error) != SHAPEPROOF_OK) {
        cli_warning(*path ? path : NULL, error.message);
        return;
    }
    if (!*path) return; /* no file: a built-in model, whose values have no quantisation */
    const bool is = is_quantised(subject, count, &error);
    if (*error.message) cli_warning(path, error.message);
    if (!is) return;
    snprintf(message, sizeof message,
             "the configuration quantises the weights, and %s; predict --stored lists what is "
             "stored",
             reported);
    cli_warning(path, message);
}

bool cli_settings_are_known(const struct cli_subject *subject, const struct cli_args *args)
{
    struct shapeproof_error ignored = {0};
    if (!cli_value(args, "set", NULL)) return true; /* there are none, and the prediction may be large */
    struct shapeproof_prediction *prediction = shapeproof_predict(
        subject->tables, subject->config, &(struct shapeproof_predict_options){.table = subject->table_name}, &ignored);
    const char *unknown =
        prediction ? sp_prediction_unknown_setting(prediction, subject->tables, subject->config) : NULL;
    if (unknown) cli_complain_of_key("set", prediction, unknown);
    shapeproof_prediction_free(prediction);
    return !unknown;
}

struct shapeproof_check *cli_subject_check(const struct cli_subject *subject, const struct cli_args *args,
                                           const char *path, const struct shapeproof_inventory *inventory, int *status)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_check_options what = {.table = subject->table_name, .watch = cli_watch(args)};
    cli_begin_step("checking %s", path);
    struct shapeproof_check *check = shapeproof_check_new(inventory, subject->tables, subject->config, &what, &error);
    *status = CLI_OK;
    if (!check) *status = cli_no_prediction(subject, &(struct shapeproof_predict_options){.table = what.table}, &error);
    else if (!cli_settings_are_read(subject, shapeproof_check_prediction(check))) *status = CLI_USAGE;
    if (*status == CLI_OK) return check;
    shapeproof_check_free(check);
    return NULL;
}

int cli_with_checkpoint(const struct cli_args *args,
                        int (*use)(const struct cli_args *, const char *path, const struct shapeproof_inventory *))
{
    const char *path = args->operands[0];
    struct shapeproof_error error = {0};
    cli_begin_step("reading %s", path);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) return cli_path_error(path, &error);
    const int status = use(args, path, inventory);
    if (cli_format(args) != SHAPEPROOF_REPORT_JSON) cli_warn_of_file(path, inventory);
    shapeproof_inventory_close(inventory);
    return status;
}
