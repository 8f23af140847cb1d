/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "cli/expect.h"

#include <time.h>

int cli_load_expectations(const struct cli_args *args, struct shapeproof_expectations **expectations)
{
    const char *path = cli_has_option(args, "expect") ? cli_value(args, "expect", NULL) : NULL;
    struct shapeproof_error error = {0};
    struct tm now = {0};
    char today[16] = "";
    const time_t seconds = time(NULL);
    *expectations = NULL;
    if (!path) return CLI_OK;
    if (localtime_r(&seconds, &now)) strftime(today, sizeof today, "%Y-%m-%d", &now);
    *expectations = shapeproof_expectations_load(path, cli_value(args, "today", today), &error);
    if (*expectations) return CLI_OK;
    return cli_error(&error);
}
