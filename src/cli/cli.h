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
    bool takes_file; /* "=FILE" may follow the word, as in --format html=report.html */
    bool is_open;    /* other words than these are values, too, which the command checks */
    /* The name of another option: without that one, this one has no value; or NULL. */
    const char *value_with;
    bool hidden; /* for the build, not for people: in no help */
    const char *help;
};

/* Rows that several commands have. */
#define CLI_OPTION_FORMAT(words)                                                                                       \
    .name = "format", .argument = words, .takes_file = true,                                                           \
    .help =                                                                                                            \
        "the format of the output; text is the default. With =FILE, write the report also to FILE in this format, "    \
        "in the same run; may be repeated"
#define CLI_OPTION_QUIET                                                                                               \
    .name = "quiet", .letter = 'q',                                                                                    \
    .help = "write nothing to stdout; the exit status has the answer. Each FILE of --format is still written"
#define CLI_OPTION_OUTPUT                                                                                              \
    .name = "output", .letter = 'o', .argument = "FILE",                                                               \
    .help =                                                                                                            \
        "write the output to FILE instead of stdout; an existing FILE is replaced only when the output is complete, "  \
        "and stays as it was if the command fails without a report"
#define CLI_OPTION_LIMIT                                                                                               \
    .name = "limit", .argument = "WHAT=N",                                                                             \
    .help = "what one phase of the command may use: memory=SIZE or output=SIZE (4GB, 4GiB or 4G), steps=N, time=30s, " \
            "or tensors=N of a prediction that is compared with a file; may be repeated"
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
struct cli_output;

struct cli_command {
    const char *name;
    const char *summary;     /* one line, no full stop */
    const char *operands;    /* "FILE...", ""; shells complete it as they do an argument */
    const char *description; /* paragraphs, separated by an empty line */
    size_t least, most;      /* operands; CLI_MANY for no limit */
    bool checkpoints;        /* that is what the operands are: see checkpoints.c */
    bool runs;               /* a folder with the steps of a training is one operand: the command goes through them */
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
    struct shapeproof_run *run; /* in the folder of an operand, for a command that goes through runs; or NULL */
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

/* ---- memory.c ---- */

/* From here on, the command ends with a message and CLI_FILE when memory runs out. */
void cli_prepare_for_no_memory(void);
/* Ends the command in this way, after an allocation has failed. */
__attribute__((noreturn)) void cli_out_of_memory(void);

/* ---- limit.c ---- */

/* Sets the limits of --limit. Returns CLI_OK, or complains and returns the exit status. */
int cli_set_limits(const struct cli_args *args);

/* ---- sizes.c ---- */

struct cli_unit {
    const char *name; /* behind a number */
    uint64_t size;
};
extern const struct cli_unit cli_units_of_bytes[]; /* kB, KiB, ...; ends with NULL */

/* The value of a number with one of the units, such as "24GiB" or "1.5B", rounded down. 0 if the text is no such
 * number, or if the value does not fit in 64 bits. */
uint64_t cli_read_size(const char *text, const struct cli_unit *units);
/* Why it is 0: the text "is too large", or something else. Static. */
const char *cli_why_no_size(const char *text, const struct cli_unit *units);

/* ---- parse.c ---- */

/* Fills `args` from the words behind the command's name. False after a usage error was printed. Either way free it with
 * cli_args_free. With --help, or with --, no operands are missing or too many. */
bool cli_parse(struct cli_args *args, const struct cli_command *command, int count, char **words);
void cli_args_free(struct cli_args *args);
/* The same options and one more flag, with a single operand. What is in `args` stays there: free both. */
struct cli_args cli_args_for(const struct cli_args *args, const char *operand, const char *flag);
/* Adds one option to those: there is room for one. */
void cli_args_add(struct cli_args *args, const char *option, const char *value);
/* Complains that there are fewer operands than the command needs. */
void cli_complain_of_too_few(const struct cli_args *args);

/* Its values are the words that its argument lists. */
bool cli_is_choice(const struct cli_option *option);
/* Whether it is in the command's table, as it must be for those below. */
bool cli_has_option(const struct cli_args *args, const char *name);
bool cli_flag(const struct cli_args *args, const char *name);
/* Whether it was given without a value, though it may have one (value_with). */
bool cli_flag_alone(const struct cli_args *args, const char *name);
/* The last value given, or `fallback`. */
const char *cli_value(const struct cli_args *args, const char *name, const char *fallback);
/* The first operand, or NULL. */
const char *cli_operand(const struct cli_args *args);
uint64_t cli_number(const struct cli_args *args, const char *name, uint64_t fallback);
/* The name of the format of stdout, which --format or one of its aliases (--json, --csv, --markdown) asks for; "text"
 * is the default. */
const char *cli_format_name(const struct cli_args *args);
/* Each "html=report.html" of --format: start with *position = 0, NULL after the last. The FILE is behind the "=". */
const char *cli_next_format_file(const struct cli_args *args, size_t *position);
/* Every value of an option that may be repeated: start with *position = 0, NULL after the last. */
const char *cli_next_value(const struct cli_args *args, const char *name, size_t *position);

/* ---- checkpoints.c ---- */

/* The descriptor of an empty file without a path, in $TMPDIR or /tmp; -1 with errno. */
int cli_open_unnamed(void);

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
/* Notes that in output the path stands for the operand `name`: the path of a sparse cache for a URL, that of a copy of
 * standard input for "-". */
void cli_path_stands_for(const char *path, const char *name);
/* The text of *length bytes, with the operand in place of each path that stands for one, and *length that of the
 * result; free() it. NULL, and *length as it was, when the text has no such path. */
char *cli_restore_operands(const char *text, size_t *length);
void cli_free_remotes(struct cli_args *args);
/* Where the Hugging Face hub's own programs keep what they download: $HF_HUB_CACHE, $HF_HOME/hub, or
 * ~/.cache/huggingface/hub. free() it; NULL without a home. */
char *cli_hub_cache(void);

/* ---- document.c: SARIF, JUnit, and HTML of several checkpoints, which say also of one that it could not be checked
 * ---- */

/* Writes what came of a checkpoint: the report of its check, and its part of each document. A page has the groups of
 * the table, with the claims if there are any. */
void cli_put_checked(const struct cli_args *args, const struct shapeproof_checked *checked,
                     const struct shapeproof_verification *groups);
/* Keeps a part of a document, and frees it. */
void cli_keep_part(struct cli_output *document, char *part);
/* Keeps the part for a checkpoint in each document but Markdown; `groups` is as cli_put_checked has it, or NULL. */
void cli_keep_parts(const struct shapeproof_checked *checked, const struct shapeproof_verification *groups);
/* Keeps the part that says why there is no check, in each document that has no part yet. */
void cli_keep_error_parts(const struct cli_args *args, const struct shapeproof_error *error, const char *path,
                          int status);
/* Writes each document about what `path` names, which the command ended for with that exit status. With a wrong command
 * line there is none. NULL: the command is about nothing that an error could be a result for; documents without a part
 * are not written. */
void cli_put_documents(const struct cli_args *args, const char *path, int status);

/* ---- trace.c ---- */

#define CLI_OPTION_TRACE .name = "trace", .help = "write each attempt to stderr, with its result or why it was rejected"

/* For the options of a call that may take longer than a second: it reports each attempt if --trace is given, and
 * otherwise its progress. Static. */
const struct shapeproof_watch *cli_watch(const struct cli_args *args);

/* ---- message.c: one line on stderr, and at most one hint ---- */

/* The exit status that a call ends with which returned that. */
int cli_exit_of(enum shapeproof_status status);
/* Returns the exit status of the error. */
int cli_error(const struct shapeproof_error *error);
/* The same of an error about that file, which the user named. */
int cli_error_about(const char *path, const struct shapeproof_error *error);
/* The same of mistakes in a table, a claim or an expression: `mistakes` has the lines for people, each with its place.
 * Returns `status`. */
int cli_mistakes(int status, const struct shapeproof_error *error, const char *mistakes);
/* Redacts messages from here on, if it is not NULL. */
void cli_redact_messages(struct shapeproof_redaction *redaction);
/* What they are redacted with; NULL if they are not. */
struct shapeproof_redaction *cli_redaction(void);
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
/* The first error since the beginning, or since it was forgotten; its status is 0 if there was none. */
const struct shapeproof_error *cli_first_error(void);
void cli_forget_error(void);

/* Whether, in a process that checks one of a list, messages are not printed from here on, and the report is kept, as
 * JSON and, if they are asked for, as Markdown and as HTML. */
void cli_capture(bool on);
bool cli_captures(void);
/* Keeps the text form of the report besides. */
void cli_capture_text(void);
/* That text; "" if there is none. */
const char *cli_captured_text(void);

/* ---- pager.c ---- */

/* Lets the text that the command writes to a terminal wait for its end, unless the user wants no pager. */
void cli_hold_output(const struct cli_args *args);
/* Shows the text: through the pager if it is longer than the screen. The messages follow it. */
void cli_show_output(void);
/* The descriptor that stdout is to the user, also while its text waits. */
int cli_stdout(void);
/* The columns of the terminal that stdout is, or that stream; 0 if it is no terminal. */
unsigned cli_columns(void);
unsigned cli_columns_of(int stream);
/* Whether the locale says that the terminal shows UTF-8, as the first of LC_ALL, LC_CTYPE and LANG does that is set. */
bool cli_is_utf8(void);
/* Writes text whose lines have at most that many columns, as far as they have blanks at which they can break; 0: no
 * limit. CLI_UNBROKEN is for a terminal on which the lines stay as they are. For a terminal without UTF-8 other
 * characters than ASCII are escaped. */
enum { CLI_UNBROKEN = 1 };
void cli_put_lines(FILE *stream, const char *text, size_t length, size_t width);
/* Where messages go: to stderr, behind what was written to stdout before; while the text waits, they wait, too. */
FILE *cli_messages(void);

/* ---- progress.c: one line on a terminal that says what the command is doing, and how far it is ---- */

#define CLI_OPTION_NO_PROGRESS                                                                                         \
    .name = "no-progress",                                                                                             \
    .help = "do not show the progress of the command on the terminal; without this option, it is shown after a second"

/* Whether this process may write into the lines of the terminal: another one must not while the user works with that. A
 * terminal that does not know is in nobody's hands. */
bool cli_is_foreground(int terminal);
/* Lets the command show its progress, unless the user does not want that. */
void cli_allow_progress(const struct cli_args *args);
/* In a process that was forked: its parent shows the progress. */
void cli_stop_progress(void);
/* Says what is under way: "reading model.pt". It ends with the next step, message or report. */
void cli_begin_step(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says how far the step is: "reading model.pt: DETAIL". */
void cli_tell_step(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same in numbers; `total` is 0 if it is not known. "bytes" are written as MiB, GiB or TiB. */
void cli_tell_amount(const char *unit, uint64_t done, uint64_t total);
/* Ends the step, and erases the line. */
void cli_end_step(void);

/* ---- system_limits.c ---- */

/* From now on a limit of processor time (ulimit -t) ends the command with a message and CLI_FILE. With --json, stdout
 * gets a document about the error, unless another document is incomplete there. */
void cli_expect_processor_limit(void);
/* Makes the stack of the command as large as it may need; false with a message when the system does not allow that. */
bool cli_expect_stack_limit(void);

/* ---- output_file.c: the FILE of --output, or one of --format. The report goes into a temporary file beside FILE,
 * which takes its place at the end: FILE is never half written. A FILE that is no regular file, such as /dev/null, is
 * written directly. */

struct cli_file {
    const char *name;      /* FILE as the user has it, borrowed; NULL: there is none */
    char *path;            /* the same with symbolic links resolved */
    char *temporary;       /* NULL if FILE is written directly, or stays as it is */
    struct cli_file *next; /* of all those that are open */
};

/* Returns a descriptor to write to, or -1 with the exit status in *status after an error was printed: the file cannot
 * be written (4), or another report of this run goes to it (2). */
int cli_open_file(struct cli_file *file, const char *path, int *status);
/* After the descriptor was closed: puts the temporary file in the place of FILE, or, with `keep_old`, removes it. False
 * with errno set when that fails. */
bool cli_finish_file(struct cli_file *file, bool keep_old);
/* Removes the temporary files of all that are open. A handler of signals may call it. */
void cli_remove_temporary_files(void);

/* ---- output.c: the reports of a run: one on stdout, and one in each FILE of --format ---- */

struct cli_output {
    FILE *stream;
    struct cli_file file; /* its name is NULL for stdout without --output */
    enum shapeproof_report_format format;
    bool is_stdout;    /* or the FILE of --output, which takes its place */
    bool is_folded;    /* a document of JSON is one line: jsonl */
    struct {           /* how far a document is folded */
        bool is_text;  /* the line has more than indentation by now */
        bool is_last;  /* the line began with the brace that ends the document */
        size_t column; /* of the next byte in its line */
        char before;   /* the last byte that was written */
    } fold;
    char *parts;       /* of a document: one behind the other; NULL when there is none */
    size_t error_size; /* how many of the bytes in the FILE are documents about errors */
    int why;           /* errno of the first write that failed, or 0 */
};

/* The format of stdout. */
enum shapeproof_report_format cli_format(const struct cli_args *args);
/* Whether a report of that format is asked for, on stdout or in a FILE. */
bool cli_writes(const struct cli_args *args, enum shapeproof_report_format format);
/* What --format asks for beside text on stdout, "json" or "html=report.html"; NULL: nothing. */
const char *cli_format_beside_text(const struct cli_args *args);
/* "sarif". */
const char *cli_name_of_format(enum shapeproof_report_format format);
/* SARIF and JUnit. */
bool cli_is_document(enum shapeproof_report_format format);

/* Until the command line is parsed: whether an error is written to stdout as a document of JSON, in one line or not. */
void cli_expect_json(bool on, bool is_folded);
/* Opens the FILEs. Returns CLI_OK, or complains and returns the exit status. */
int cli_open_outputs(const struct cli_args *args);
/* The output behind that one, the first for NULL; NULL after the last. */
struct cli_output *cli_next_output(const struct cli_output *output);
/* Whether a document goes to stdout. */
bool cli_stdout_is_document(void);
/* The same of those that are documents: SARIF, JUnit, HTML about several checkpoints, and Markdown about a list. */
struct cli_output *cli_next_document(const struct cli_output *output);
/* The command is about several checkpoints, and a page is written at the end, as SARIF is. */
void cli_begin_several(void);
/* The command is about a list: JSON has a line for each checkpoint, and HTML and Markdown are written at the end. */
void cli_begin_list(void);
/* Format, colour and width, as options and terminal say. */
struct shapeproof_report_options cli_report_options(const struct cli_args *args, const struct cli_output *output);
/* Writes whole lines of a report to an output; a sink of shapeproof_report_inspect. */
void cli_put_part(void *output, const char *bytes, size_t length);
/* Writes a text to stdout or stderr, with the URL in place of each path of a sparse cache. */
void cli_put_text(FILE *stream, const char *text);
/* Ends a line, an empty one between two reports, in each output of that format. */
void cli_put_blank_line(enum shapeproof_report_format format);
/* Writes a document to an output and frees it. */
void cli_put_document(struct cli_output *output, char *document);
/* Writes the report of a checkpoint to an output, or keeps it as a part of the document there, and frees it. */
void cli_put_report(struct cli_output *output, char *report);
/* Writes the document about an error, which stands in for a report, where JSON goes. */
void cli_put_error(const struct shapeproof_checked *failed);
/* Whether a document of JSON can be written to stdout: JSON goes there, and no other document is incomplete.
 * *is_folded: as one line. A handler of signals may call it. */
bool cli_can_begin_json(bool *is_folded);
/* The report that was kept in a process of a list; NULL when there is none. */
const char *cli_captured_report(void);
/* Drops what was written: each FILE stays as it is. */
void cli_discard_outputs(void);
/* Closes stdout and all FILEs. A FILE is replaced if it has a report. False after an error was printed: one could not
 * be written. */
bool cli_close_outputs(void);

/* ---- help.c, manual.c, completion.c: from the tables ---- */

void cli_print_usage(FILE *stream);
void cli_print_help(FILE *stream);
void cli_print_command_help(FILE *stream, const struct cli_command *command);
void cli_print_manual(FILE *stream);
void cli_print_command_manual(FILE *stream, const struct cli_command *command);
/* The completion of a shell: bash, zsh or fish. */
void cli_print_completion(FILE *stream, const char *shell);

#endif
