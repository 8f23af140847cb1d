/* SPDX-License-Identifier: MIT
 * Expressions inverted: the answer, and what is told. */
#include "solve/solving.h"

struct row {
    const char *dimension, *known, *wanted; /* the known keys, and what is wanted, as JSON */
    const char *answer;                     /* and the keys that are told, of a, b and c */
};

/* "holds a=3", "open", "contradicts": a key that is guessed has a question mark. */
static char *shown_answer(struct sp_solver *solver, enum sp_answer answer)
{
    static const char *const answers[] = {"open", "holds", "contradicts"}, *const keys[] = {"a", "b", "c"};
    struct sp_text text = {0};
    sp_text_puts(&text, answers[answer]);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct sp_fact *fact = sp_known_fact(&solver->known, keys[i]);
        if (!fact || fact->value.type == SHAPEPROOF_VALUE_UNKNOWN) continue;
        char *value = shapeproof_value_text(fact->value);
        sp_text_printf(&text, " %s%s=%s", keys[i], fact->guess ? "?" : "", value);
        free(value);
    }
    return text.data;
}

static void check_row(struct shapeproof_tables *tables, const struct row *row)
{
    struct sp_arena arena = {0};
    struct sp_outline outline;
    struct sp_text table = {0};
    sp_text_printf(&table, "table t\nw (%s)\n", row->dimension);
    sp_outline_init(&outline, add_table(tables, table.data), "", NULL);
    const struct shapeproof_value known = json_value(&arena, row->known);
    for (size_t i = 0; i < known.count; i++) {
        const struct sp_want want = sp_want_value(known.members[i].value);
        assert_int_equal(sp_known_tell(&outline.solver.known, known.members[i].key, &want), SP_HOLDS);
    }
    const struct sp_line *line = &outline.lines[0];
    const struct sp_want want = sp_want_value(json_value(&arena, row->wanted));
    char *found = shown_answer(&outline.solver, sp_invert(&outline.solver, line->env, line->row->shape[0], &want));
    if (strcmp(found, row->answer) != 0)
        fail_msg("%s = %s with %s: %s, expected %s", row->dimension, row->wanted, row->known, found, row->answer);
    free(found);
    sp_outline_free(&outline);
    sp_text_free(&table);
    sp_arena_free(&arena);
}

#define CHECK(state, rows)                                                                                             \
    for (size_t row = 0; row < sizeof(rows) / sizeof *(rows); row++) check_row(*(state), &(rows)[row])

static void arithmetic(void **state)
{
    static const struct row rows[] = {
        {"3*a", "{\"b\": 12}", "2304", "holds a=768 b=12"},
        {"a/b", "{\"b\": 12}", "64", "holds a=768 b=12"},
        {"b", "{\"b\": 12}", "16", "contradicts b=12"},
        {"a*c", "{}", "2048", "open"},
        {"-a", "{}", "-5", "holds a=5"},
        {"-a", "{}", "-9223372036854775808", "contradicts"},
    };
    CHECK(state, rows);
}

/* A condition is told where one alternative alone will do, and guessed where the other one may do as well; what cannot
 * be so is no guess. */
static void choices(void **state)
{
    static const struct row rows[] = {
        {"a == 5 ? 3 : 4", "{}", "3", "holds a=5"},
        {"a == 5 ? 3 : b", "{}", "3", "holds a?=5"},
        {"a == 5 ? b : 3", "{\"a\": 5}", "3", "holds a=5 b=3"},
        {"2*a == 5 ? 3 : b", "{}", "3", "contradicts"},
        {"a < 5 ? 3 : b", "{}", "3", "open"},
        {"a == 5 ? 3 : 3", "{}", "3", "holds"},
        {"a == 5 ? 3 : 4", "{}", "2", "contradicts"},
        {"a == 5 ? b : c", "{}", "2", "open"},
    };
    CHECK(state, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(choices)};
    return cmocka_run_group_tests(tests, tables_setup, tables_teardown);
}
