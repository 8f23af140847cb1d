/* SPDX-License-Identifier: MIT
 * The law of src/prove for tables that are made up. SEED and TABLES in the environment choose others than the first
 * 120. */
#define _POSIX_C_SOURCE 200809L

#include "prove/made_up.h"
#include "sample.h"

enum { TABLES = 120, POINTS = 12 };

/* ---- the law ---- */

static struct tries try_random_table(uint64_t seed, const struct shapeproof_config *none)
{
    struct maker m = {.seed = seed};
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct tries tries = {0};
    struct sp_arena arena = {0};
    struct sp_count count;
    random_table(&m);
    if (shapeproof_tables_add_text(tables, "random.shapes", m.text.data, m.text.length, &error) != SHAPEPROOF_OK)
        fail_msg("%s\n%s", shapeproof_tables_messages(tables), m.text.data);
    const bool good = sp_count_table(&count, tables, sp_tables_unit(tables, "random"), NULL, SP_SIDES_MAY_DIFFER);
    if (!good && !is_limit(count.messages.data)) {
        print_message("%s\n", count.messages.data);
        tries.differences++;
    }
    for (int i = 0; good && i < POINTS && !tries.differences; i++) {
        struct shapeproof_config *config = random_point(&count, none, &arena, &m.seed, true);
        try_point(tables, &count, config, &tries);
        shapeproof_config_free(config);
    }
    if (tries.differences && !is_quiet) fprintf(stderr, "--- seed %" PRIu64 "\n%s\n", seed, m.text.data);
    sp_count_free(&count);
    shapeproof_tables_free(tables);
    sp_text_free(&m.text);
    sp_arena_free(&arena);
    return tries;
}

static void random_tables_count_what_they_expand_to(void **state)
{
    const char *from = getenv("SEED"), *tables = getenv("TABLES");
    struct shapeproof_config *none = shapeproof_config_new();
    size_t differences = 0, points = 0, tried = 0;
    (void)state;
    const uint64_t first = from ? strtoull(from, NULL, 10) : 1,
                   count = tables ? strtoull(tables, NULL, 10) : TABLES / quarter();
    for (uint64_t seed = first; seed < first + count && differences < 3; seed++) {
        const struct tries tries = try_random_table(seed, none);
        differences += tries.differences > 0;
        points += tries.points;
        tried += tries.points > 0;
    }
    print_message("%zu points of %zu tables\n", points, tried);
    assert_int_equal(differences, 0);
    assert_true(from || tried > count / 2);
    shapeproof_config_free(none);
}

/* The law can be broken: a total that is off by one is caught by evaluating the formula. */
static void a_wrong_count_is_caught(void **state)
{
    (void)state;
    struct shapeproof_config *none = shapeproof_config_new();
    size_t caught = 0, tried = 0;
    is_quiet = true;
    off_by = 1;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        const struct tries tries = try_random_table(seed, none);
        tried += tries.points > 0;
        caught += tries.differences > 0;
    }
    is_quiet = false;
    off_by = 0;
    print_message("%zu of %zu are caught\n", caught, tried);
    assert_true(tried > 20 && caught >= tried * 9 / 10);
    shapeproof_config_free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_tables_count_what_they_expand_to),
                                       cmocka_unit_test(a_wrong_count_is_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
