/* SPDX-License-Identifier: MIT
 * What the commands that predict have in common: tables, a configuration, settings. */
#ifndef SP_CLI_SUBJECT_H
#define SP_CLI_SUBJECT_H

#include "cli/cli.h"

#define CLI_OPTION_CONFIG                                                                                              \
    .name = "config", .letter = 'c', .argument = "FILE",                                                               \
    .help = "the hyper-parameters: a config.json, a Sockeye config, a .hpm file (settings of a Sockeye training), or " \
            "a GGUF or Keras model, which contains them"
#define CLI_OPTION_SET                                                                                                 \
    .name = "set", .letter = 'S', .argument = "KEY=VALUE",                                                             \
    .help = "set one hyper-parameter; this overrides the configuration; may be repeated; text_config.KEY sets KEY "    \
            "in the object text_config"
#define CLI_OPTION_TABLE                                                                                               \
    .name = "table", .letter = 'T', .argument = "TABLE|FILE",                                                          \
    .help = "the name of a table, a table file of your own, or a folder of such files"
#define CLI_OPTION_MODEL                                                                                               \
    .name = "model", .letter = 'm', .argument = "MODEL",                                                               \
    .help = "the hyper-parameters of a published model, in place of a configuration; 'shapeproof models' lists them"
#define CLI_OPTION_CLAIMS                                                                                              \
    .name = "claims", .argument = "FILE", .help = "a file of your own claims about tables; may be repeated"
#define CLI_OPTION_VOCABULARY                                                                                          \
    .name = "vocabulary", .argument = "sockeye|nparam|none",                                                           \
    .help = "if a .hpm file gives no vocabulary sizes, count them in its training texts by the rule of Sockeye or of " \
            "nparam (github.com/Este1le/nparam); --vocabulary=none does not count them; sockeye is the default if "    \
            "the texts exist"

/* False also if nothing is there. */
bool cli_is_folder(const char *path);

struct cli_subject {
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    const char *table_name;           /* NULL: chosen by the configuration */
    bool is_named;                    /* the operand of the command is the name of the table */
    struct shapeproof_models *models; /* NULL until cli_subject_models reads them */
};

/* Opens tables and configuration as the options --table, --config and --set say; `config_path` stands in for a missing
 * --config (NULL: none). Returns CLI_OK, or complains and returns the exit status. Free it with cli_subject_close. */
int cli_subject_open(struct cli_subject *subject, const struct cli_args *args, const char *config_path);
/* Makes the configuration what the table for the checkpoint reads (it may be NULL); after cli_subject_open, with the
 * same results. */
int cli_subject_fit(struct cli_subject *subject, const struct shapeproof_inventory *inventory);
/* Counts vocabularies as the option --vocabulary says; after cli_subject_open, with the same results. */
int cli_subject_count_vocabulary(struct cli_subject *subject, const struct cli_args *args);
/* Whether the command line says anything of the architecture. */
bool cli_is_told(const struct cli_args *args);
/* Whether it has an operand or says anything of the architecture; otherwise complains, with the example as a hint. */
bool cli_subject_is_given(const struct cli_args *args, const char *example);
/* What shapeproof_config_search has found. */
struct cli_found_config {
    char *beside; /* a path, to be freed with shapeproof_free; or NULL */
    bool inside;
    char denied[1024]; /* if nothing was found: the place that could not be searched for want of permission, or "" */
};
/* Searches for the configuration of a checkpoint, unless the command line gives one. Returns CLI_OK, or complains and
 * returns the exit status. */
int cli_search_config(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory,
                      struct cli_found_config *found);
/* Warns of a place that could not be searched, unless it is "", for a command that goes on without the configuration.
 */
void cli_warn_of_search(const char *path, const char *denied);
/* Opens, fits and counts, for a checkpoint and the configuration that was found for it; NULL: none, or one inside. */
int cli_subject_open_found(struct cli_subject *subject, const struct cli_args *args,
                           const struct shapeproof_inventory *inventory, const char *beside);
/* The same with the configuration of the command line, or else the one that the search finds. Complains if neither
 * exists. */
int cli_subject_open_for(struct cli_subject *subject, const struct cli_args *args, const char *path,
                         const struct shapeproof_inventory *inventory);
/* Adds the tables or claims of a file. Returns CLI_OK, or complains and returns the exit status. */
int cli_add_table_file(struct shapeproof_tables *tables, const char *file);
/* Adds the files of --claims. Returns CLI_OK, or complains and returns the exit status. */
int cli_add_claims(struct cli_subject *subject, const struct cli_args *args);
/* Warns of definitions that no claim uses. */
void cli_warn_of_claims(const struct shapeproof_tables *tables);
/* Opens the tables, for a command that has --table alone. */
int cli_subject_open_tables(struct cli_subject *subject, const struct cli_args *args);
/* Complains that there is no published model of that name; returns CLI_USAGE. In models.c. */
int cli_complain_of_model(const struct shapeproof_models *models, const char *name);
/* The published models, read when they are first asked for. NULL after an error was printed. */
const struct shapeproof_models *cli_subject_models(struct cli_subject *subject);
/* Loads the hyper-parameters of the published model of that name. False when a table is called so, or no model is. */
bool cli_subject_take_model(struct cli_subject *subject, const char *name);
/* Takes what `predict NAME` names: a table, or else a published model, whose hyper-parameters are loaded; the case of
 * letters does not matter. NULL: nothing. Returns CLI_OK, or complains and returns the exit status. After
 * cli_subject_open. */
int cli_subject_take(struct cli_subject *subject, const struct cli_args *args, const char *name);
/* Complains that there is no table of that name, with a hint; returns CLI_USAGE. */
int cli_complain_of_name(struct cli_subject *subject, const struct cli_args *args, const char *name);
/* The check of a checkpoint, for the groups of its tensors; after cli_subject_open_for. NULL after an error was
 * printed, with its exit status in *status. */
struct shapeproof_check *cli_subject_check(const struct cli_subject *subject, const struct cli_args *args,
                                           const char *path, const struct shapeproof_inventory *inventory, int *status);
void cli_subject_close(struct cli_subject *subject);
/* Where the file is an adapter, lets the error say so first. */
void cli_name_adapter(const struct shapeproof_inventory *inventory, const char *path, struct shapeproof_error *error);
/* Complains of a key in the value of the option that the table does not read at all, and names the one that is most
 * likely meant. Returns false. */
bool cli_complain_of_key(const char *option, const struct shapeproof_prediction *prediction, const char *key);
/* Complains that no prediction can be made, of a setting if one is of the wrong kind; returns the exit status. */
int cli_no_prediction(const struct cli_subject *subject, const struct shapeproof_predict_options *what,
                      const struct shapeproof_error *error);
/* The same where formulas could not be derived or solved. */
int cli_no_formula(const struct cli_subject *subject, const struct shapeproof_error *error);
/* Complains of claims or expressions of the command line that could not be added to the tables: all mistakes in them,
 * with their places. Returns the exit status. */
int cli_lines_error(const struct cli_subject *subject, const struct shapeproof_error *error);
/* False after an error was printed: a setting has a key that the table does not have. Otherwise settings that the
 * prediction never looked at are warned of. */
bool cli_settings_are_read(const struct cli_subject *subject, const struct shapeproof_prediction *prediction);
/* Warns that the configuration quantises the weights, if it does, and what is reported of them nevertheless: "the
 * weights are counted in bf16". `count` is that of the tensors of the model, whose prediction need not be held: what is
 * stored is predicted for this. Warns of a method of quantisation that is not known, too. */
void cli_warn_of_quantisation(const struct cli_subject *subject, size_t count, const char *reported);
/* Warns of a configuration that its library makes no model of, whatever the checkpoint holds. */
void cli_warn_of_objection(const struct cli_subject *subject, const struct shapeproof_prediction *prediction);
/* False after the same error, without the warnings: for a command that makes no prediction of its own. True without
 * --set, and where the table cannot be predicted. */
bool cli_settings_are_known(const struct cli_subject *subject, const struct cli_args *args);

/* Opens the checkpoint that the first operand names, uses it, and says what is odd about the file. */
int cli_with_checkpoint(const struct cli_args *args,
                        int (*use)(const struct cli_args *, const char *path, const struct shapeproof_inventory *));

#endif
