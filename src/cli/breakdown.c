/* SPDX-License-Identifier: MIT */
#include "cli/breakdown.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

enum { ROWS_ON_TERMINAL = 20, KEYS = SHAPEPROOF_BY_EXPERT + 1 };

/* ---- keys ---- */

/* The key of that name, of `length` bytes; NONE when there is none. */
static enum shapeproof_by key_named(const char *name, size_t length)
{
    for (int key = SHAPEPROOF_BY_NONE + 1; key < KEYS; key++) {
        const char *known = shapeproof_by_name((enum shapeproof_by)key);
        if (strlen(known) == length && memcmp(known, name, length) == 0) return (enum shapeproof_by)key;
    }
    return SHAPEPROOF_BY_NONE;
}

static bool complain_of_key(const struct cli_args *args, const char *name, size_t length)
{
    const char *names[KEYS];
    char hint[128] = "the keys are layer, group, module, dtype, shard and expert", word[64];
    for (int key = SHAPEPROOF_BY_NONE + 1; key < KEYS; key++)
        names[key - 1] = shapeproof_by_name((enum shapeproof_by)key);
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
    const char *likely = sp_suggest(word, names, KEYS - 1);
    if (likely) snprintf(hint, sizeof hint, "did you mean '%s'?", likely);
    cli_usage_error(hint, "%s: '%s' is no key for --by", args->command->name, word);
    return false;
}

bool cli_keys(const struct cli_args *args, enum shapeproof_by keys[2])
{
    const char *rest = cli_value(args, "by", NULL);
    keys[0] = keys[1] = SHAPEPROOF_BY_NONE;
    for (size_t i = 0; rest; i++) {
        const size_t length = strcspn(rest, ",");
        if (i == 2) {
            cli_usage_error(NULL, "%s: --by takes at most two keys", args->command->name);
            return false;
        }
        keys[i] = key_named(rest, length);
        if (keys[i] == SHAPEPROOF_BY_NONE) return complain_of_key(args, rest, length);
        if (i && keys[0] == keys[1]) {
            cli_usage_error(NULL, "%s: --by has the key '%s' twice", args->command->name, shapeproof_by_name(keys[0]));
            return false;
        }
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    return true;
}

/* ---- options ---- */

/* The order that --sort asks for; the largest first is the default. */
static enum shapeproof_breakdown_order order_of(const char *sort)
{
    if (strcmp(sort, "name") == 0) return SHAPEPROOF_BREAKDOWN_BY_NAME;
    return strcmp(sort, "file") == 0 ? SHAPEPROOF_BREAKDOWN_AS_FILE : SHAPEPROOF_BREAKDOWN_BY_SIZE;
}

struct shapeproof_breakdown_options cli_breakdown_options(const struct cli_args *args, const struct cli_output *to,
                                                          const enum shapeproof_by keys[2])
{
    const uint64_t rows = cli_number(args, "rows", to->format == SHAPEPROOF_REPORT_TEXT ? ROWS_ON_TERMINAL : 0);
    const uint64_t depth = cli_has_option(args, "depth") ? cli_number(args, "depth", 0) : 0;
    return (struct shapeproof_breakdown_options){
        .by = {keys[0], keys[1]},
        .order =
            cli_has_option(args, "sort") ? order_of(cli_value(args, "sort", "size")) : SHAPEPROOF_BREAKDOWN_BY_SIZE,
        .most = rows < SIZE_MAX ? (size_t)rows : SIZE_MAX,
        .depth = depth < SIZE_MAX ? (size_t)depth : SIZE_MAX,
    };
}

/* ---- the report ---- */

int cli_put_breakdown(const struct cli_args *args, struct cli_output *to, struct shapeproof_breakdown *breakdown,
                      bool no_heading, const struct shapeproof_error *error)
{
    const struct shapeproof_report_breakdown_options how = {
        .report = cli_report_options(args, to),
        .exact = cli_flag(args, "exact"),
        .unicode = cli_is_utf8(),
        .no_heading = no_heading,
    };
    if (!breakdown) return cli_error(error);
    cli_put_report(to, shapeproof_report_breakdown(breakdown, &how, NULL));
    shapeproof_breakdown_free(breakdown);
    return CLI_OK;
}
