/* SPDX-License-Identifier: MIT
 * A configuration in JSON, a line "====", and lines "MEMORY TOKENS BATCH SOURCE_TOKENS DTYPE CACHE_DTYPE": whether the
 * model of a small table fits in the memory of a device. */
#include "small_decoder.h"

#include "mutate_json.h"

enum { MAX_SIZE = 512, MOST_LINES = 2, MOST_STEPS = 50 * 1000 };

/* What the numbers have to do with each other. */
static void must_agree(const struct shapeproof_fit *fit)
{
    fuzz_must(fit->verdict <= SHAPEPROOF_FIT_UNKNOWN && fit->devices_verdict <= SHAPEPROOF_FIT_UNKNOWN);
    if (fit->verdict == SHAPEPROOF_FIT_YES) fuzz_must(fit->weights <= fit->memory);
    if (fit->verdict == SHAPEPROOF_FIT_YES && fit->cache) fuzz_must(fit->cache <= fit->memory - fit->weights);
    if (fit->verdict == SHAPEPROOF_FIT_YES && fit->batch_most) fuzz_must(fit->batch_most >= fit->batch);
    if (fit->why) fuzz_must(fit->why[0]);
}

static void fit_line(const struct shapeproof_config *config, char *line)
{
    struct shapeproof_error error = {0};
    uint64_t numbers[4] = {0};
    for (size_t i = 0; i < 4; i++) numbers[i] = strtoull(line, &line, 10);
    line += strspn(line, " ");
    char *cache = line, *dtype = strsep(&cache, " ");
    const struct shapeproof_fit_options what = {.tokens = numbers[1],
                                                .batch = numbers[2],
                                                .source_tokens = numbers[3],
                                                .dtype = *dtype ? dtype : NULL,
                                                .cache_dtype = cache && *cache ? cache : NULL,
                                                .stored = numbers[2],
                                                .is_stored = !*dtype};
    struct shapeproof_fit *fit = shapeproof_fit_new(fuzz_tables(add_small_decoder), config, numbers[0], &what, &error);
    fuzz_must_have(fit, &error);
    if (fit) {
        must_agree(fit);
        shapeproof_free(shapeproof_report_fit(fit, NULL, NULL));
    }
    shapeproof_fit_free(fit);
}

static void fit_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    const char *texts[2];
    size_t lengths[2];
    char *copy = fuzz_split(data, size, texts, lengths, 2), *rest = copy + (texts[1] - copy), *line;
    struct shapeproof_config *config = shapeproof_config_new();
    if (shapeproof_config_load_text(config, "config.json", texts[0], lengths[0], &error) == SHAPEPROOF_OK)
        for (int left = MOST_LINES; left > 0 && (line = strsep(&rest, "\n")); left--) fit_line(config, line);
    else fuzz_must_refuse(&error);
    shapeproof_config_free(config);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_limit(&(struct shapeproof_limits){.steps = MOST_STEPS});
    fuzz_tables(add_small_decoder);
    if (size <= MAX_SIZE) fuzz_undone(fit_input, data, size);
}

JSON_MUTATOR(JSON_TEXT(0))
