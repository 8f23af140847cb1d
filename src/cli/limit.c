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

static const struct cli_unit times[] = {{"", 1000},         {"s", 1000},           {"ms", 1},
                                        {"min", 60 * 1000}, {"h", 60 * 60 * 1000}, {NULL, 0}};

static uint64_t read_bytes(const char *text)
{
    const uint64_t size = cli_read_size(text, letters);
    return size ? size : cli_read_size(text, cli_units_of_bytes);
}

/* Puts "memory=4G" into the limits; false if it is wrong. */
static bool put_limit(struct shapeproof_limits *limits, const char *word)
{
    const struct {
        const char *name; /* with the = */
        uint64_t *limit;
        const struct cli_unit *units; /* NULL: of bytes */
    } known[] = {
        {"memory=", &limits->memory, NULL},     {"steps=", &limits->steps, counts}, {"time=", &limits->time, times},
        {"tensors=", &limits->tensors, counts}, {"output=", &limits->output, NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t length = strlen(known[i].name);
        if (strncmp(word, known[i].name, length) != 0) continue;
        *known[i].limit = known[i].units ? cli_read_size(word + length, known[i].units) : read_bytes(word + length);
        return *known[i].limit > 0;
    }
    return false;
}

int cli_set_limits(const struct cli_args *args)
{
    struct shapeproof_limits limits = {.memory = 0};
    struct shapeproof_error error;
    size_t position = 0;
    if (!cli_has_option(args, "limit")) return CLI_OK;
    for (const char *word; (word = cli_next_value(args, "limit", &position));)
        if (!put_limit(&limits, word))
            return cli_usage_error("--limit memory=4GiB, output=4GiB, steps=200M, time=30s or tensors=1M",
                                   "%s: '%s' is no value for --limit", args->command->name, word);
    return shapeproof_set_limits(&limits, &error) ? CLI_OK : cli_error(&error);
}
