/* SPDX-License-Identifier: MIT
 * --limit WHAT=N: what each call of the library may use. */
#include <string.h>

#include "cli/cli.h"
#include "shapeproof/limits.h"

/* Numbers of steps and tensors. */
static const struct cli_unit counts[] = {{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}};
/* As programs that limit memory have it, a single letter is a power of 2. */
static const struct cli_unit letters[] = {
    {"", 1},  {"K", UINT64_C(1) << 10}, {"M", UINT64_C(1) << 20}, {"G", UINT64_C(1) << 30}, {"T", UINT64_C(1) << 40},
    {NULL, 0}};

/* Puts "memory=4G" into the limits; false if it is wrong. */
static bool put_limit(struct shapeproof_limits *limits, const char *word)
{
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : 0;
    uint64_t size = 0;
    if (length == strlen("memory") && strncmp(word, "memory", length) == 0) {
        size = cli_read_size(equals + 1, letters);
        if (!size) size = cli_read_size(equals + 1, cli_units_of_bytes);
        limits->memory = size;
    } else if (length == strlen("steps") && strncmp(word, "steps", length) == 0)
        limits->steps = size = cli_read_size(equals + 1, counts);
    else if (length == strlen("tensors") && strncmp(word, "tensors", length) == 0)
        limits->tensors = size = cli_read_size(equals + 1, counts);
    return size > 0;
}

int cli_set_limits(const struct cli_args *args)
{
    struct shapeproof_limits limits = {.memory = 0};
    struct shapeproof_error error;
    size_t position = 0;
    if (!cli_has_option(args, "limit")) return CLI_OK;
    for (const char *word; (word = cli_next_value(args, "limit", &position));)
        if (!put_limit(&limits, word))
            return cli_usage_error("--limit memory=4GiB, --limit steps=200M or --limit tensors=1M",
                                   "%s: '%s' is no value for --limit", args->command->name, word);
    return shapeproof_set_limits(&limits, &error) ? CLI_OK : cli_error(&error);
}
