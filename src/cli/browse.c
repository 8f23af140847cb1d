/* SPDX-License-Identifier: MIT
 * shapeproof browse: looking through a checkpoint on a terminal. */
#include <string.h>
#include <unistd.h>

#include "cli/near.h"
#include "cli/subject.h"
#include "cli/terminal.h"

static const struct cli_option options[] = {
    {CLI_OPTION_CONFIG},  {CLI_OPTION_MODEL}, {CLI_OPTION_SET},   {CLI_OPTION_TABLE}, {CLI_OPTION_VOCABULARY},
    {CLI_OPTION_OFFLINE}, {CLI_OPTION_LIMIT}, {CLI_OPTION_COLOR}, {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof browse model.safetensors", "with the findings of the check against the config.json beside it"},
    {"shapeproof browse checkpoint/ --config other.json", "with the findings against another configuration"},
    {NULL, NULL},
};

/* Whether the command line says what the file is to be checked against. */
static bool is_check_asked(const struct cli_args *args)
{
    static const char *const names[] = {"config", "model", "set", "table", "vocabulary"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cli_value(args, names[i], NULL)) return true;
    return false;
}

/* The check, or NULL after an error was printed, with its exit status in *status. */
static struct shapeproof_check *make_check(const struct cli_args *args, struct cli_subject *subject, const char *path,
                                           const struct shapeproof_inventory *inventory, int *status)
{
    struct shapeproof_error error = {0};
    *status = cli_subject_open_for(subject, args, path, inventory);
    if (*status != CLI_OK) return NULL;
    const struct shapeproof_check_options what = {.table = subject->table_name};
    struct shapeproof_check *check = shapeproof_check_new(inventory, subject->tables, subject->config, &what, &error);
    if (!check) *status = cli_no_prediction(subject, &(struct shapeproof_predict_options){.table = what.table}, &error);
    else if (!cli_settings_are_read(subject, shapeproof_check_prediction(check))) {
        *status = CLI_USAGE;
        shapeproof_check_free(check);
        check = NULL;
    }
    return check;
}

/* The reason in an error about that path, which the screen shows already. */
static const char *reason_of(const char *message, const char *path)
{
    const size_t length = strlen(path);
    return strncmp(message, path, length) == 0 && strncmp(message + length, ": ", 2) == 0 ? message + length + 2
                                                                                          : message;
}

/* Shows the tree. Without a usable configuration there are no findings, and the screen says why; only if one was given
 * it is an error. */
static int browse_inventory(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory)
{
    struct cli_subject subject = {.tables = NULL};
    struct sp_browser browser;
    const bool is_asked = is_check_asked(args);
    int status = CLI_OK;
    cli_capture(!is_asked);
    struct shapeproof_check *check = make_check(args, &subject, path, inventory, &status);
    cli_capture(false);
    if (check || !is_asked) {
        sp_browser_open(&browser, inventory, check, check ? NULL : reason_of(cli_first_error()->message, path));
        status = cli_run_browser(&browser, cli_wants_color(STDOUT_FILENO, cli_value(args, "color", "auto")));
        sp_browser_close(&browser);
    }
    shapeproof_check_free(check);
    cli_subject_close(&subject);
    return status;
}

static int run_browse(const struct cli_args *args)
{
    const int status = cli_find_terminal();
    return status == CLI_OK ? cli_with_checkpoint(args, browse_inventory) : status;
}

static const struct cli_term statuses[] = {
    {"0", "the user left the browser, whatever the check found"},
    {"2", "the command line is wrong, or standard output is not a terminal"},
    {"3", "a table or a configuration that the command line names is wrong"},
    {"4", "the checkpoint is unreadable or malformed or could not be fetched"},
    {"5",
     "--config, --model, --set, --table or --vocabulary is given, but there is no configuration, or no table for the "
     "architecture"},
    {NULL, NULL},
};

const struct cli_command cli_browse = {
    .name = "browse",
    .summary = "look through the tensors of a checkpoint on a terminal",
    .operands = "PATH",
    .description =
        "Shows the tensors of the checkpoint at PATH as a tree of modules, on the whole screen. Each line has the "
        "number of parameters, the bytes, and the share of all bytes. Wider screens also have the number of tensors "
        "(from 76 columns on), the dtype (from 80 on) and the shape (from 120 on). Below the tree is what is known "
        "of the selected line: for a tensor its shape, its file and its offset. Equal layers share a line, such as "
        "layers.{0-31}.\n"
        "\n"
        "If a configuration is beside the checkpoint or in it, or is given, the checkpoint is compared with it, as "
        "'shapeproof check' does. Tensors with findings, and the modules around them, are marked with E (error), W "
        "(warning) or n (note). A tensor that is predicted but not stored is in the tree, too.\n"
        "\n"
        "Keys: the arrow keys move, open and close; Enter opens, or shows all that is known of a tensor; / searches "
        "for a part of a name, n and N go to the next and previous line that was found; f and F go to the next and "
        "previous tensor with an error or a warning, or with a note if there are neither; c shows the causes and "
        "findings of the check; s changes the order; m shows equal "
        "layers each by itself; x opens all modules in the selected one; ? explains the keys; q quits.\n"
        "\n"
        "Only headers are read.",
    .least = 1,
    .most = 1,
    .checkpoints = true,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_browse,
};
