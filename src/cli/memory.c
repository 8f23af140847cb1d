/* SPDX-License-Identifier: MIT
 * What the command does when memory runs out, or when a function exceeds its budget and cannot tell: it says so, and
 * ends. Without memory the library may be in the middle of anything, so nothing that it was working on is used again.
 * What exceeds its budget was undone before (base/fault.h). */
#include <stdlib.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/process/child.h"
#include "cli/cli.h"
#include "cli/terminal.h"

/* Bytes that are freed before the message is written: enough for its texts, the document of --json and a stream. */
enum { RESERVE = 64 * 1024 };

/* Written once at the start, and once when memory runs out. */
static void *reserve;
static bool is_ending;

/* The last resort: the message is written without any memory. */
static void end_at_once(void)
{
    static const char message[] = "shapeproof: out of memory\n";
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0) _exit(CLI_FILE);
    _exit(CLI_FILE);
}

static void end_with(const struct shapeproof_error *error)
{
    if (cli_captures()) _exit(SP_CHILD_NO_MEMORY); /* the process of the list tells */
    cli_discard_outputs();
    if (is_ending) end_at_once();
    is_ending = true;
    cli_leave_screen();
    free(reserve);
    const int status = cli_error(error);
    cli_close_outputs();
    exit(status);
}

static void end_without_memory(void)
{
    static const struct shapeproof_error error = {
        .status = SHAPEPROOF_ERR_FILE, .kind = SHAPEPROOF_KIND_IO, .message = "out of memory"};
    cli_redact_messages(NULL); /* it may be what got no memory; the message has nothing to redact */
    end_with(&error);
}

/* The message names the file, which --redact must not show. */
static void end_over_budget(const struct shapeproof_error *error)
{
#ifdef __wasi__ /* cannot undo the call, which may be in the middle of the redaction */
    if (cli_redaction()) end_without_memory();
#endif
    end_with(error);
}

void cli_prepare_for_no_memory(void)
{
    reserve = malloc(RESERVE);
    sp_memory_handler = end_without_memory;
    sp_budget_handler = end_over_budget;
}

void cli_out_of_memory(void) { sp_out_of_memory(); }
