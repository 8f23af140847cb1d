/* SPDX-License-Identifier: MIT
 * The frame of the command line. A command is one file with one `const struct cli_command` and one line in commands.c.
 * Its option table drives parsing, --help, the man page and shell completion: there is no second list of options.
 * Only this folder writes to streams, reads the environment or ends the process; it sees the public headers alone. */
#ifndef SP_CLI_H
#define SP_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "shapeproof/shapeproof.h"

/* Exit statuses, which docs/exit-status.md and each command's help describe. */
enum cli_exit {
    CLI_OK = 0,
    CLI_DIFFERS = 1,
    CLI_USAGE = 2,
    CLI_TABLE = 3,
    CLI_FILE = 4, /* also when the output cannot be written */
    CLI_UNKNOWN = 5
};

struct cli_option {
    const char *name; /* the long form, without its dashes; NULL ends a table */
    char letter;      /* the short form, or 0 */
    /* What stands for the value in the help, and what it may be: "N" is a decimal number, "a|b|c" (lower
     * case) is one of these words, anything else is any text. NULL for an option without a value. Shells complete
     * "FILE" and "PATH" as paths, "TABLE" and "MODEL" as their names, also in "TABLE|FILE". */
    const char *argument;
    bool hidden; /* for the build, not for people: in no help */
    const char *help;
};

/* Rows that several commands have. */
#define CLI_OPTION_FORMAT(words)                                                                                       \
    .name = "format", .argument = words, .help = "the format of the output; text is the default"
#define CLI_OPTION_OUTPUT                                                                                              \
    .name = "output", .letter = 'o', .argument = "FILE",                                                               \
    .help =                                                                                                            \
        "write the output to FILE; an existing FILE is replaced only when the output is complete, and stays as it "    \
        "was if there is no output"
#define CLI_OPTION_JSON .name = "json", .help = "the same as --format json"
#define CLI_OPTION_COLOR                                                                                               \
    .name = "color", .argument = "auto|always|never",                                                                  \
    .help = "whether to colour the text; auto, the default, "                                                          \
            "colours it on a terminal"
#define CLI_OPTION_NO_PAGER                                                                                            \
    .name = "no-pager",                                                                                                \
    .help = "do not use a pager; without this option, text that is longer than the terminal is shown through a pager"
#define CLI_OPTION_END .name = NULL

struct cli_example {
    const char *command; /* NULL ends a list */
    const char *what;
};

enum { CLI_MANY = 1 << 30 };

struct cli_args;
struct cli_capture;

struct cli_command {
    const char *name;
    const char *summary;     /* one line, no full stop */
    const char *operands;    /* "FILE...", ""; shells complete it as they do an argument */
    const char *description; /* paragraphs, separated by an empty line */
    size_t least, most;      /* operands; CLI_MANY for no limit */
    bool checkpoints;        /* that is what the operands are: see checkpoints.c */
    bool opens_output;       /* it has an --output of its own, which it writes itself */
    const struct cli_option *options;
    const struct cli_example *examples; /* may be NULL */
    const struct cli_term *statuses;    /* how it ends; ends with a NULL term */
    int (*run)(const struct cli_args *args);
};

/* What the user gave: valid against the command's option table, so that a run function need not check again. */
struct cli_args {
    const struct cli_command *command;
    const char **operands;
    size_t operand_count;
    struct cli_given *given;
    size_t given_count;
    char **owned; /* paths that stand in for operands */
    size_t owned_count;
    struct shapeproof_remote **remotes; /* what was fetched for them */
    size_t remote_count;
};

/* ---- commands.c, main.c ---- */

extern const struct cli_command *const cli_commands[]; /* ends with NULL */
const struct cli_command *cli_command_named(const char *name);
/* Complains, with a suggestion; returns CLI_USAGE. */
int cli_unknown_command(const char *name);

struct cli_term { /* a term and its meaning, for help and manual */
    const char *term;
    const char *meaning;
};
extern const char cli_path_alone[];               /* what `shapeproof PATH` does */
extern const struct cli_term cli_exit_statuses[]; /* of all commands; ends with a NULL term */
#define CLI_USAGE_STATUS "the command line is wrong"
extern const struct cli_term cli_environment[];
extern const struct cli_option cli_help_option; /* --help, which every command has */

/* ---- parse.c ---- */

/* Fills `args` from the words behind the command's name. False after a usage error was printed. Either way free it with
 * cli_args_free. With --help, or with --, no operands are missing or too many. */
bool cli_parse(struct cli_args *args, const struct cli_command *command, int count, char **words);
void cli_args_free(struct cli_args *args);
/* The same options and one more flag, with a single operand. What is in `args` stays there: free both. */
struct cli_args cli_args_for(const struct cli_args *args, const char *operand, const char *flag);
/* Complains that there are fewer operands than the command needs. */
void cli_complain_of_too_few(const struct cli_args *args);

/* Its values are the words that its argument lists. */
bool cli_is_choice(const struct cli_option *option);
/* Whether it is in the command's table, as it must be for those below. */
bool cli_has_option(const struct cli_args *args, const char *name);
bool cli_flag(const struct cli_args *args, const char *name);
/* The last value given, or `fallback`. */
const char *cli_value(const struct cli_args *args, const char *name, const char *fallback);
/* The first operand, or NULL. */
const char *cli_operand(const struct cli_args *args);
uint64_t cli_number(const struct cli_args *args, const char *name, uint64_t fallback);
/* The name of the format that --format or one of its aliases (--json, --csv, --markdown) asks for; "text" is the
 * default. */
const char *cli_format_name(const struct cli_args *args);
/* Every value of an option that may be repeated: start with *position = 0, NULL after the last. */
const char *cli_next_value(const struct cli_args *args, const char *name, size_t *position);

/* ---- checkpoints.c ---- */

/* Puts the path that is meant in place of each operand that is a checkpoint: for a model in the cache of the hub its
 * snapshot, for "-" a file with what standard input holds, for a URL the sparse cache that its headers were fetched
 * into. Then runs the command; an error when what it read there may be of two versions. */
int cli_run_found(struct cli_args *args, int (*run)(const struct cli_args *));

/* ---- remote.c ---- */

#define CLI_OPTION_OFFLINE                                                                                             \
    .name = "offline", .help = "do not use the network: read remote checkpoints (https://, hf://) from the cache "     \
                               "alone"

/* Fetches the headers of what the URL names; NULL after an error was printed, with its exit status in *status. The
 * path of the sparse cache is shapeproof_remote_path's. */
struct shapeproof_remote *cli_fetch(const struct cli_args *args, const char *url, int *status);
/* The text of *length bytes, with the URL in place of each path of a sparse cache, and *length that of the result;
 * free() it. NULL, and *length as it was, when the text has no such path. */
char *cli_restore_urls(const char *text, size_t *length);
void cli_free_remotes(struct cli_args *args);

/* ---- document.c: SARIF, JUnit, and HTML of several checkpoints, which say also of one that it could not be checked
 * ---- */

/* Whether the output is such a document. */
bool cli_writes_document(const struct cli_args *args);
/* Runs the command for its one operand, and writes the document; exit status. With a wrong command line there is none.
 * An error is printed as well. */
int cli_run_document(struct cli_args *args, int (*run)(const struct cli_args *));
/* Writes what came of a checkpoint: the report of its check, if there is one, and the part of the document. */
void cli_put_checked(const struct cli_args *args, const struct shapeproof_checked *checked);
/* Keeps the part of the document for a checkpoint. */
void cli_keep_part(struct cli_capture *capture, const struct shapeproof_checked *checked);
/* Whether a page is to be written of the checkpoint: alone, or as the part of one. */
bool cli_makes_page(const struct cli_args *args);
/* Keeps a part that was made before, and frees it. */
void cli_keep_made_part(struct cli_capture *capture, char *part);
/* Writes the document of the parts that are kept. */
void cli_put_document(const struct cli_capture *capture);
/* Keeps the part that says why there is no check, if there is no part yet. */
void cli_keep_error_part(struct cli_capture *capture, const char *path, int status);

/* ---- trace.c ---- */

#define CLI_OPTION_TRACE .name = "trace", .help = "write each attempt to stderr, with its result or why it was rejected"

/* For the options of a call: as --trace says. Static; NULL without it. */
const struct shapeproof_watch *cli_watch(const struct cli_args *args);

/* ---- message.c: one line on stderr, and at most one hint ---- */

/* The exit status that a call ends with which returned that. */
int cli_exit_of(enum shapeproof_status status);
/* Returns the exit status of the error. */
int cli_error(const struct shapeproof_error *error);
/* The same of an error about that file, which the user named. */
int cli_error_about(const char *path, const struct shapeproof_error *error);
/* Redacts messages from here on, if it is not NULL. */
void cli_redact_messages(struct shapeproof_redaction *redaction);
/* What they are redacted with; NULL if they are not. */
struct shapeproof_redaction *cli_redaction(void);
/* Whether an error is written to stdout as well, as a document of JSON. */
void cli_errors_as_json(bool on);
/* Prints an error, and a hint below it unless that is NULL or "". What is not printable in the words of the user is
 * escaped. Of a checkpoint of a list the error is kept for its line of the results. Returns the status. */
int cli_complain(enum cli_exit status, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define cli_usage_error(...) cli_complain(CLI_USAGE, __VA_ARGS__)
/* Fill an error, and its hint, which cli_error prints: made printable, as the library makes its own. Nothing else
 * writes into them. */
void cli_fail(struct shapeproof_error *error, enum cli_exit status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cli_hint(struct shapeproof_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `path` is what the warning is about, or NULL. */
void cli_warning(const char *path, const char *message);
/* Of what its reader found odd; a report in JSON has that in it. */
void cli_warn_of_file(const char *path, const struct shapeproof_inventory *inventory);

/* Whether --color=WHEN ("auto", "always", "never") means colours for that stream: auto, where it is a terminal that can
 * show them and the user has not declined (NO_COLOR). */
bool cli_wants_color(int stream, const char *when);
/* What --color says counts for messages from here on; before, "auto". */
void cli_color_messages(const char *when);

/* What a command has to say when it is run for one of a list. */
struct cli_capture {
    struct shapeproof_error error; /* the first one */
    char *report;                  /* free it with shapeproof_free; NULL when none was written */
    /* SARIF, JUnit or HTML: the parts of the document about what was checked are kept, too. */
    enum shapeproof_report_format document;
    char *parts; /* one behind the other; free it with free(); NULL when there is none */
};

/* From here on errors and reports go into `into`, and warnings are dropped; NULL ends that. */
void cli_capture_into(struct cli_capture *into);
struct cli_capture *cli_captured(void);

/* ---- output.c ---- */

/* The format of the output. */
enum shapeproof_report_format cli_format(const struct cli_args *args);
/* Format, colour and width, as options and terminal say. */
struct shapeproof_report_options cli_report_options(const struct cli_args *args);
/* Whether documents of JSON on stdout have one line each: --format jsonl. */
void cli_fold_documents(bool on);
/* Writes whole lines of a report to a FILE; a sink of shapeproof_report_inspect. */
void cli_put_part(void *stream, const char *bytes, size_t length);
/* Writes a report to stdout and frees it. */
void cli_put_report(char *report);
/* Closes stdout, or what stands in for it; false after an error was printed, when not all could be written. */
bool cli_close_output(void);

/* ---- pager.c ---- */

/* Lets the text that the command writes to a terminal wait for its end, unless the user wants no pager. */
void cli_hold_output(const struct cli_args *args);
/* Shows the text: through the pager if it is longer than the screen. The messages follow it. */
void cli_show_output(void);
/* The descriptor that stdout is to the user, also while its text waits. */
int cli_stdout(void);
/* Where messages go: to stderr, behind what was written to stdout before; while the text waits, they wait, too. */
FILE *cli_messages(void);

/* ---- output_file.c: --output FILE. What is written to stdout goes into a temporary file beside FILE, which takes its
 * place at the end; FILE is never half written. A FILE that is no regular file, such as /dev/null, is written directly.
 */

/* False after an error was printed. */
bool cli_redirect_output(const char *path);
/* Drops what was written: FILE stays as it is. */
void cli_discard_output(void);
/* The FILE, or NULL if stdout was not redirected. */
const char *cli_output_path(void);
/* After stdout was closed, with success or not: puts the temporary file in the place of FILE if anything was written to
 * it, otherwise removes it. False with errno set when that fails. */
bool cli_finish_output(bool is_written);

/* ---- help.c, manual.c, completion.c: from the tables ---- */

void cli_print_usage(FILE *stream);
void cli_print_help(FILE *stream);
void cli_print_command_help(FILE *stream, const struct cli_command *command);
void cli_print_manual(FILE *stream);
void cli_print_command_manual(FILE *stream, const struct cli_command *command);
/* The completion of a shell: bash, zsh or fish. */
void cli_print_completion(FILE *stream, const char *shell);

#endif
