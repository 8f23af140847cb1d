/* SPDX-License-Identifier: MIT
 * A configuration in JSON, a line "====", and a line of words: the wanted number of parameters of a small table, then
 * what `solve` takes as options (free=KEY,KEY keep=KEY/KEY group=GROUP within=PERCENT active at-most all). What follows
 * that line is the expression that has the number. */
#include "small_table.h"

#include "mutate_json.h"

/* MOST_STEPS is what solving for one key takes at most, with the default limit seconds. */
enum { MAX_SIZE = 1024, MOST_WORDS = 12, MOST_KEYS = 3, MOST_RATIOS = 8, MOST_STEPS = 20 * 1000 };

struct wanted {
    const char *figure, *group, *measure, *free[MOST_KEYS];
    struct shapeproof_ratio keep[MOST_RATIOS];
    size_t free_count, keep_count;
    double within;
    bool at_most, every;
};

static const char *value_of(const char *word, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(word, name, length) == 0 ? word + length : NULL;
}

static void read_keys(char *keys, struct wanted *wanted)
{
    for (char *key; wanted->free_count < MOST_KEYS && (key = strsep(&keys, ","));)
        wanted->free[wanted->free_count++] = key;
}

static void read_word(char *word, struct wanted *wanted)
{
    const char *value;
    if ((value = value_of(word, "free="))) read_keys(word + strlen("free="), wanted);
    else if ((value = value_of(word, "keep=")) && wanted->keep_count < MOST_RATIOS) {
        char *of = word + strlen("keep="), *to = of;
        strsep(&to, "/");
        wanted->keep[wanted->keep_count++] = (struct shapeproof_ratio){of, to ? to : ""};
    } else if ((value = value_of(word, "group="))) wanted->group = value;
    else if ((value = value_of(word, "within="))) wanted->within = strtod(value, NULL);
    else if (strcmp(word, "active") == 0) wanted->measure = "active";
    else if (strcmp(word, "at-most") == 0) wanted->at_most = true;
    else if (strcmp(word, "all") == 0) wanted->every = true;
}

/* Whether it is a number of digits alone, and not a figure such as "65M". */
static bool is_total(const char *figure) { return *figure && !figure[strspn(figure, "0123456789")]; }

static void solve_together(const struct shapeproof_config *config, const struct wanted *wanted)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_tables *tables = fuzz_tables(add_small_table);
    const struct shapeproof_solve_together_options what = {.table = "small",
                                                           .group = wanted->group,
                                                           .within = wanted->within,
                                                           .free = wanted->free,
                                                           .free_count = wanted->free_count,
                                                           .keep = wanted->keep,
                                                           .keep_count = wanted->keep_count,
                                                           .every = wanted->every,
                                                           .measure = wanted->measure};
    struct shapeproof_combinations *combinations =
        is_total(wanted->figure)
            ? shapeproof_solve_together(tables, config, strtoull(wanted->figure, NULL, 10), &what, &error)
            : shapeproof_solve_together_rounded(tables, config, wanted->figure, &what, &error);
    fuzz_must_have(combinations, &error);
    if (combinations) shapeproof_free(shapeproof_report_solve_together(combinations, NULL, NULL));
    shapeproof_combinations_free(combinations);
}

static void solve(const struct shapeproof_config *config, const struct wanted *wanted,
                  const struct shapeproof_expressions *expressions)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_tables *tables = fuzz_tables(add_small_table);
    const struct shapeproof_solve_options what = {.table = "small",
                                                  .group = wanted->group,
                                                  .within = wanted->within,
                                                  .measure = wanted->measure,
                                                  .expressions = expressions,
                                                  .at_most = wanted->at_most};
    struct shapeproof_solutions *solutions =
        is_total(wanted->figure) ? shapeproof_solve(tables, config, strtoull(wanted->figure, NULL, 10), &what, &error)
                                 : shapeproof_solve_rounded(tables, config, wanted->figure, &what, &error);
    fuzz_must_have(solutions, &error);
    if (solutions) shapeproof_free(shapeproof_report_solve(solutions, NULL, NULL));
    shapeproof_solutions_free(solutions);
}

/* The expression, or NULL if there is none or it is wrong. */
static struct shapeproof_expressions *read_expression(const char *text)
{
    const struct shapeproof_claim_lines lines = {.name = "expression", .items = &text, .count = 1};
    struct shapeproof_error error = {0};
    char *letters = NULL;
    if (!text || !text[strspn(text, " \t\r\n")]) return NULL;
    struct shapeproof_expressions *expressions =
        shapeproof_expressions_new(fuzz_tables(add_small_table), "small", &lines, &letters, &error);
    fuzz_must_have(expressions, &error);
    shapeproof_free(letters);
    return expressions;
}

static void solve_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    const char *texts[2];
    size_t lengths[2], words = 0;
    struct wanted wanted = {.figure = ""};
    char *copy = fuzz_split(data, size, texts, lengths, 2);
    char *rest = copy + (texts[1] - copy), *line = strsep(&rest, "\n");
    for (char *word; words < MOST_WORDS && (word = strsep(&line, " ")); words++)
        if (words) read_word(word, &wanted);
        else wanted.figure = word;
    struct shapeproof_config *config = shapeproof_config_new();
    if (shapeproof_config_load_text(config, "config.json", texts[0], lengths[0], &error) != SHAPEPROOF_OK)
        fuzz_must_refuse(&error);
    else if (wanted.free_count) solve_together(config, &wanted);
    else {
        struct shapeproof_expressions *expressions = read_expression(rest);
        solve(config, &wanted, expressions);
        shapeproof_expressions_free(expressions);
    }
    shapeproof_config_free(config);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_limit(&(struct shapeproof_limits){.steps = MOST_STEPS});
    fuzz_tables(add_small_table);
    if (size <= MAX_SIZE) fuzz_undone(solve_input, data, size);
}

JSON_MUTATOR(JSON_TEXT(0))
