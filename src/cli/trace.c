/* SPDX-License-Identifier: MIT
 * What a long call of the library reports on its way: with --trace each thing that it tries, otherwise how far it is.
 */
#include "cli/cli.h"

#include <string.h>

static void put_line(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "trace: %s\n", line);
}

/* The steps whose number means something to a user, and what it counts. */
static const struct {
    const char *step, *unit;
} units[] = {{"attempts", "candidates tried"},
             {"trials", "values tried"},
             {"expressions", "expressions tried"},
             {"claims", "claims"},
             {"bytes", "bytes"}};

static bool tell_progress(void *context, const char *step, uint64_t done, uint64_t total)
{
    (void)context;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].step, step) == 0) cli_tell_amount(units[i].unit, done, total);
    return true;
}

const struct shapeproof_watch *cli_watch(const struct cli_args *args)
{
    static const struct shapeproof_watch traced = {.trace = put_line}, watched = {.progress = tell_progress};
    return cli_has_option(args, "trace") && cli_flag(args, "trace") ? &traced : &watched;
}
