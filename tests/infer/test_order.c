/* SPDX-License-Identifier: MIT
 * The order of attempts is one that can be sorted by: random attempts obey the laws of a strict weak order. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/infer.h"
#include "lang/tables.h"

enum { ATTEMPTS = 120 };

static unsigned long seed = 1;

/* From 0 to `most`; small, so that fields are often equal. */
static size_t random_up_to(size_t most)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % (most + 1);
}

static const struct sp_unit *random_table(const struct shapeproof_tables *tables)
{
    static const char *const names[] = {"llama", "mistral", "qwen2", "gpt2", "bert"};
    return sp_tables_unit(tables, names[random_up_to(4)]);
}

/* Everything else follows from these. */
static struct sp_attempt random_attempt(const struct shapeproof_tables *tables, const struct sp_infer_view *views)
{
    struct sp_attempt attempt = {.tables = tables, .table = random_table(tables), .view = &views[random_up_to(1)]};
    static char prediction;
    attempt.prediction = random_up_to(9) ? (void *)&prediction : NULL; /* only whether there is one counts */
    attempt.unexplained = random_up_to(2);
    attempt.missing_in_present_layers = random_up_to(2);
    attempt.missing = attempt.missing_in_present_layers + random_up_to(2);
    attempt.lacks_layers = attempt.missing && random_up_to(1);
    attempt.explained = 5 + random_up_to(2);
    attempt.recomputed = random_up_to(1);
    attempt.joints = random_up_to(1);
    attempt.is_part = random_up_to(1);
    attempt.name = random_up_to(1) ? "a name" : NULL;
    attempt.has_unnamed_text = random_up_to(1);
    attempt.settings = random_up_to(2);
    attempt.outline.solver.known.guesses = random_up_to(2);
    return attempt;
}

static bool are_equal(const struct sp_attempt *a, const struct sp_attempt *b)
{
    return !sp_attempt_is_better(a, b) && !sp_attempt_is_better(b, a);
}

static void assert_laws_of(const struct sp_attempt *a, const struct sp_attempt *b, const struct sp_attempt *c)
{
    if (sp_attempt_is_better(a, b)) {
        assert_false(sp_attempt_is_better(b, a));
        if (sp_attempt_is_better(b, c)) assert_true(sp_attempt_is_better(a, c));
    }
    if (are_equal(a, b) && are_equal(b, c)) assert_true(are_equal(a, c));
}

static void order_has_its_laws(void **state)
{
    const struct sp_infer_view views[2] = {{.transposed = 0}, {.transposed = 1}};
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct sp_attempt *attempts = calloc(ATTEMPTS, sizeof *attempts);
    (void)state;
    assert_non_null(tables);
    for (size_t i = 0; i < ATTEMPTS; i++) attempts[i] = random_attempt(tables, views);
    for (size_t i = 0; i < ATTEMPTS; i++) {
        assert_false(sp_attempt_is_better(&attempts[i], &attempts[i]));
        for (size_t j = 0; j < ATTEMPTS; j++)
            for (size_t k = 0; k < ATTEMPTS; k++) assert_laws_of(&attempts[i], &attempts[j], &attempts[k]);
    }
    free(attempts);
    shapeproof_tables_free(tables);
}

/* What the file lacks or has besides always counts more than how simple an explanation is. */
static void complete_comes_first(void **state)
{
    const struct sp_infer_view views[2] = {{.transposed = 0}, {.transposed = 1}};
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    (void)state;
    assert_non_null(tables);
    for (size_t i = 0; i < 1000; i++) {
        struct sp_attempt whole = random_attempt(tables, views), other = random_attempt(tables, views);
        if (!whole.prediction || !other.prediction || !(other.unexplained + other.missing)) continue;
        whole.unexplained = whole.missing_in_present_layers = whole.missing = whole.lacks_layers = 0;
        assert_true(sp_attempt_is_better(&whole, &other));
    }
    shapeproof_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_has_its_laws),
        cmocka_unit_test(complete_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
