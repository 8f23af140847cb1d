/* SPDX-License-Identifier: MIT
 * --trace: what a search tries, one line for each thing on stderr. */
#include "cli/cli.h"

static void put_line(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "trace: %s\n", line);
}

const struct shapeproof_watch *cli_watch(const struct cli_args *args)
{
    static const struct shapeproof_watch traced = {.trace = put_line};
    return cli_flag(args, "trace") ? &traced : NULL;
}
