/* SPDX-License-Identifier: MIT
 * One key in question: each row is a dimension, a configuration, the key, the value that is wanted, and the values that
 * the key could have, as JSON. */
#include "solve/solving.h"

struct row {
    const char *dimension, *config, *key, *wanted, *solutions;
};

static char *shown(struct sp_key_values solutions)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < solutions.count; i++) {
        if (i) sp_text_puts(&text, " ");
        sp_value_json(&text, solutions.list[i]);
    }
    return text.data;
}

static void check_row(struct shapeproof_tables *tables, const struct row *row)
{
    struct sp_text table = {0};
    struct solving s;
    sp_text_printf(&table, "table t\ntwice(x) = 2*x\nheads = n_head default 4\nw (%s)\n", row->dimension);
    solving_open(&s, tables, table.data, row->config);
    const struct shapeproof_value wanted = json_value(&s.arena, row->wanted);
    char *found = shown(solve_dimension(&s, solving_key(&s, row->key), wanted));
    if (strcmp(found, row->solutions) != 0)
        fail_msg("%s = %s for %s of %s: %s, expected %s", row->dimension, row->wanted, row->key, row->config, found,
                 row->solutions);
    free(found);
    solving_close(&s);
    sp_text_free(&table);
}

static void check_rows(struct shapeproof_tables *tables, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) check_row(tables, &rows[i]);
}
#define CHECK(state, rows) check_rows(*(state), (rows), sizeof(rows) / sizeof *(rows))

/* A key that occurs once, in what has a way back. */
static void turned_round(void **state)
{
    static const struct row rows[] = {
        {"a", "{\"a\": 3}", "a", "7", "7"},
        {"3*a", "{\"a\": 768}", "a", "3072", "1024"},
        {"3*a", "{\"a\": 768}", "a", "3073", ""},
        {"a + b", "{\"a\": 1, \"b\": 5}", "a", "9", "4"},
        {"a - b", "{\"a\": 9, \"b\": 5}", "b", "2", "7"},
        {"a // b", "{\"a\": 768, \"b\": 12}", "a", "32", "384"},
        {"a // b", "{\"a\": 768, \"b\": 12}", "b", "32", "24"},
        {"twice(a + 1)", "{\"a\": 1}", "a", "10", "4"},
        {"(a//b)^2 + 1", "{\"a\": 224, \"b\": 16}", "a", "577", "384"},
        {"(a//b)^2 + 1", "{\"a\": 224, \"b\": 16}", "b", "50", "32"},
        {"flag ? 2*a : a", "{\"flag\": false, \"a\": 4}", "flag", "8", "true"},
        {"flag ? 2*a : a", "{\"flag\": true, \"a\": 4}", "a", "6", "3"},
    };
    CHECK(state, rows);
}

/* What stands for a key that is not set is in question as much as one that is; so is one of a sub-configuration. */
static void paths(void **state)
{
    struct solving s;
    solving_open(&s, *state, "table t\nw (sub.a * (b default 4))\n", "{\"sub\": {\"a\": 3}}");
    const struct sp_unknown b = {"b", sp_value_int(4)}, a = {"sub.a", sp_value_int(3)};
    const struct sp_key_values of_b = solve_dimension(&s, b, sp_value_int(15));
    const struct sp_key_values of_a = solve_dimension(&s, a, sp_value_int(20));
    assert_int_equal(of_b.count, 1);
    assert_int_equal(of_b.list[0].integer, 5);
    assert_int_equal(of_a.count, 1);
    assert_int_equal(of_a.list[0].integer, 5);
    solving_close(&s);
}

/* Where it occurs more than once, or something is rounded, the value is approached. */
static void approached(void **state)
{
    static const struct row rows[] = {
        {"a + 2*b*(a/heads)", "{\"a\": 64, \"b\": 2, \"n_head\": 8}", "a", "192", "128"},
        {"a*a", "{\"a\": 3}", "a", "4", "2"},
        {"(a + 2*b)*(c//a)", "{\"a\": 33, \"b\": 32, \"c\": 3072}", "a", "9216", "32"},
        {"round_up(a, 64)", "{\"a\": 100}", "a", "192", "150"},
        {"(8*a//3 + 255)//256*256", "{\"a\": 4096}", "a", "5632", "2096 2048"},
        {"a % 2", "{\"a\": 4}", "a", "1", "3 5"},
        {"a % 2", "{\"a\": 4}", "a", "2", ""},
        {"int(100*a + 100*a)", "{\"a\": 0.5}", "a", "1", "0.005"}, /* with a halving less it would be 0.006 */
        {"a % 50", "{\"a\": 120}", "a", "28", "128"},              /* a neighbour; the next one is too far */
        {"a % 50", "{\"a\": 120}", "a", "29", "29"},
    };
    CHECK(state, rows);
}

/* A condition leaves many numbers: the nearest on either side. */
static void conditions(void **state)
{
    static const struct row rows[] = {
        {"5 < a", "{\"a\": 2}", "a", "true", "6"},
        {"5 < a", "{\"a\": 9}", "a", "false", "5"},
        {"2 >= 20 - a", "{\"a\": 0}", "a", "true", "18"},
        {"a == 7", "{\"a\": 9}", "a", "true", "7"},
        {"a == 7", "{\"a\": 7}", "a", "false", "6 8"},
        {"not flag", "{\"flag\": true}", "flag", "true", "false"},
        {"flag and a > 0", "{\"flag\": true, \"a\": 0}", "a", "true", "1"},
        {"a >= 65536", "{\"a\": 0}", "a", "true", "65536"},
        {"a >= 65537", "{\"a\": 0}", "a", "true", ""},
        {"kind == \"b\"", "{\"kind\": \"a\"}", "kind", "true", "\"b\""},
    };
    CHECK(state, rows);
}

static void without_effect(void **state)
{
    static const struct row rows[] = {
        {"a", "{\"a\": 3, \"b\": 4}", "b", "7", ""},
        {"0*a", "{\"a\": 3}", "a", "7", ""},
        {"flag ? a : 5", "{\"flag\": false, \"a\": 4}", "a", "6", ""},
    };
    CHECK(state, rows);
}

/* What an evaluation looks up: every key on which the value depends, and none behind what decides it already. */
static void lookups(void **state)
{
    static const struct {
        const char *dimension, *keys;
    } rows[] = {
        {"a + 2*b", "a b "},
        {"flag ? a : b", "flag b "},
        {"a*heads + a", "a n_head a "},
        {"(a > 5 and b > 0) ? 1 : 2", "a "},
        {"sub.c", "sub sub.c "},
        {"7", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_text table = {0}, keys = {0};
        struct sp_lookups noted = {0};
        struct solving s;
        sp_text_printf(&table, "table t\nheads = n_head default 4\nw (%s)\n", rows[i].dimension);
        solving_open(&s, *state, table.data, "{\"a\": 3, \"b\": 4, \"flag\": false, \"sub\": {\"c\": 5}}");
        struct sp_solver *solver = &s.outline.solver;
        const struct sp_line *line = &s.outline.lines[0];
        for (int twice = 0; twice < 2; twice++) { /* what is remembered is looked up once more */
            noted.count = keys.length = 0;
            sp_text_puts(&keys, "");
            sp_solver_note_lookups(solver, &noted);
            sp_solver_value(solver, line->env, line->row->shape[0]);
            sp_solver_note_lookups(solver, NULL);
            for (size_t k = 0; k < noted.count; k++) sp_text_printf(&keys, "%s ", noted.items[k]);
            assert_string_equal(keys.data, rows[i].keys);
        }
        free(noted.items);
        sp_text_free(&keys);
        sp_text_free(&table);
        solving_close(&s);
    }
}

/* Numbers at the ends of what fits in 64 bits: nothing is found, and nothing overflows. */
static void extremes(void **state)
{
    static const struct row rows[] = {
        {"-a", "{\"a\": 3}", "a", "-9223372036854775807", "9223372036854775807"},
        {"a*b", "{\"a\": 3, \"b\": -1}", "a", "-9007199254740991", "9007199254740991"},
        {"a // b", "{\"a\": 3, \"b\": 9007199254740991}", "a", "9007199254740991", ""},
        {"a ^ b", "{\"a\": 3, \"b\": 9007199254740991}", "a", "9007199254740991", ""},
        {"a + b", "{\"a\": 9007199254740991, \"b\": 1}", "a", "9007199254740991", "9007199254740990"},
        {"a*a*a*a*a", "{\"a\": 9007199254740991}", "a", "32", ""},
    };
    CHECK(state, rows);
}

/* ---- random expressions ---- */

struct random {
    uint64_t state;
};

static unsigned draw(struct random *random, unsigned below)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random->state >> 33) % below;
}

/* An expression of `a` and `b`, and of the key `x`: of that once, unless `often`. */
static void put_expression(struct random *random, struct sp_text *text, unsigned depth, bool has_key, bool often)
{
    static const char *const operators[] = {" + ", " - ", " * ", " // ", " + ", " * "};
    static const char *const others[] = {"a", "b", "2", "3", "7"};
    if (depth == 0) {
        sp_text_puts(text, has_key ? "x" : others[draw(random, 5)]);
        return;
    }
    const bool left = draw(random, 2) == 0;
    sp_text_puts(text, "(");
    put_expression(random, text, depth - 1, has_key && (left || often), often);
    sp_text_puts(text, operators[draw(random, often ? 6 : 3)]);
    put_expression(random, text, draw(random, depth), has_key && (!left || often), often);
    sp_text_puts(text, ")");
}

/* From x = `now` looks for the value that the expression has with x = `truth`. */
static void check_solutions(struct solving *s, const char *shown_as, int64_t truth, bool often)
{
    const struct sp_unknown key = solving_key(s, "x");
    const struct shapeproof_value wanted = dimension_if(s, "x", sp_value_int(truth)),
                                  have = dimension_if(s, "x", key.now);
    if (wanted.type != SHAPEPROOF_VALUE_INT || have.type != SHAPEPROOF_VALUE_INT || wanted.integer == have.integer)
        return;
    const struct sp_key_values solutions = solve_dimension(s, key, wanted);
    if (!often && !solutions.count) fail_msg("%s: nothing for %" PRId64, shown_as, wanted.integer);
    for (size_t i = 0; i < solutions.count; i++)
        if (dimension_if(s, "x", solutions.list[i]).integer != wanted.integer)
            fail_msg("%s: %" PRId64 " makes no %" PRId64, shown_as, solutions.list[i].integer, wanted.integer);
}

static void check_random(struct shapeproof_tables *tables, struct random *random, bool often)
{
    struct sp_text table = {0};
    struct solving s;
    char config[100];
    const unsigned truth = 1 + draw(random, 500), now = 1 + draw(random, 500);
    sp_text_puts(&table, "table t\nw (");
    put_expression(random, &table, 1 + draw(random, 3), true, often);
    sp_text_puts(&table, ")\n");
    snprintf(config, sizeof config, "{\"x\": %u, \"a\": %u, \"b\": %u}", now, 1 + draw(random, 40),
             1 + draw(random, 40));
    solving_open(&s, tables, table.data, config);
    check_solutions(&s, table.data, truth, often);
    solving_close(&s);
    sp_text_free(&table);
}

/* Sums, differences and products with the key in one place can be turned round, whatever they are. */
static void random_once(void **state)
{
    struct random random = {1};
    for (int i = 0; i < 100; i++) check_random(*state, &random, false);
}

/* Of all others what is found is right. */
static void random_often(void **state)
{
    struct random random = {2};
    for (int i = 0; i < 100; i++) check_random(*state, &random, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_round), cmocka_unit_test(paths),          cmocka_unit_test(approached),
        cmocka_unit_test(conditions),   cmocka_unit_test(without_effect), cmocka_unit_test(lookups),
        cmocka_unit_test(extremes),     cmocka_unit_test(random_once),    cmocka_unit_test(random_often),
    };
    return cmocka_run_group_tests(tests, tables_setup, tables_teardown);
}
