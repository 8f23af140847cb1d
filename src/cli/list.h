/* SPDX-License-Identifier: MIT
 * A command over a list of checkpoints: --list, --resume, --jobs and --timeout. */
#ifndef SP_CLI_LIST_H
#define SP_CLI_LIST_H

#include "cli/cli.h"

#define CLI_OPTION_LIST                                                                                                \
    .name = "list", .letter = 'l', .argument = "FILE",                                                                 \
    .help = "process each checkpoint whose path is a line of FILE (- is standard input), and write a line of JSON "    \
            "for each"
#define CLI_OPTION_RESUME                                                                                              \
    .name = "resume", .argument = "FILE",                                                                              \
    .help = "with --list: append the lines to FILE, and skip the paths that have a line there"
#define CLI_OPTION_JOBS                                                                                                \
    .name = "jobs", .letter = 'j', .argument = "N",                                                                    \
    .help = "with --list: the number of parallel processes; the number of processors is the default"

#define CLI_OPTION_TIMEOUT                                                                                             \
    .name = "timeout", .argument = "SECONDS",                                                                          \
    .help = "with --list: the time limit for one checkpoint; 3600 is the default, 0 means no limit"

/* Whether one of the four was given. */
bool cli_asks_for_list(const struct cli_args *args);
/* What came of one of several paths. */
struct cli_listed {
    char *line; /* the line of JSON that a list has for it */
    char *text; /* its report as text; NULL or "" if there is none */
};

/* Runs `check` for each path in a process of its own, with the options of the command; where they have no --config,
 * with that of the path, if it is not NULL. Fills a result for each, whose texts are to be freed, and keeps the parts
 * of documents. False with an error when no process can be made. */
bool cli_check_each(const struct cli_args *args, const char **paths, const char **configs, size_t count,
                    int (*check)(const struct cli_args *), struct cli_listed *results, struct shapeproof_error *error);
/* Runs the command for each checkpoint of the list, with --json and the other options; the worst exit status. */
int cli_run_list(const struct cli_args *args, int (*run)(const struct cli_args *));

#endif
