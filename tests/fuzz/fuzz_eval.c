/* SPDX-License-Identifier: MIT
 * The bytes as expressions about a small table, a line each, as `eval` takes them. */
#include "small_table.h"

enum { MAX_SIZE = 512, MAX_LINES = 8 };

static void evaluate_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    const char *text, *lines[MAX_LINES];
    size_t length;
    char *copy = fuzz_split(data, size, &text, &length, 1), *rest = copy, *letters = NULL;
    struct shapeproof_claim_lines claims = {.name = "input", .items = lines};
    while (claims.count < MAX_LINES && (lines[claims.count] = strsep(&rest, "\n"))) claims.count++;
    struct shapeproof_expressions *expressions =
        shapeproof_expressions_new(fuzz_tables(add_small_table), "small", &claims, &letters, &error);
    fuzz_must_have(expressions, &error);
    if (expressions) {
        struct shapeproof_config *config = shapeproof_config_new();
        struct shapeproof_evaluation *evaluation = shapeproof_evaluate(expressions, config, NULL, &error);
        fuzz_must_have(evaluation, &error);
        for (size_t i = 0; evaluation && i < shapeproof_evaluation_count(evaluation); i++) {
            const struct shapeproof_evaluated *value = shapeproof_evaluation_get(evaluation, i);
            fuzz_must(value->text || (value->why && value->why[0]));
        }
        shapeproof_evaluation_free(evaluation);
        shapeproof_config_free(config);
    }
    shapeproof_expressions_free(expressions);
    shapeproof_free(letters);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_tables(add_small_table);
    if (size <= MAX_SIZE) fuzz_undone(evaluate_input, data, size);
}
