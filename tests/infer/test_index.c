/* SPDX-License-Identifier: MIT
 * The index of the built-in tables says what the tables say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/classes.h"
#include "infer/tables/index.h"

static void assert_same_rows(const struct sp_table_index *index, const struct sp_indexed_unit *own, size_t place)
{
    const struct sp_indexed_unit *built = &sp_builtin_index_units[place];
    assert_int_equal(built->count, own->count);
    assert_int_equal(built->parent, own->parent);
    assert_int_equal(built->needs_arguments, own->needs_arguments);
    assert_int_equal(built->chooses, own->chooses);
    for (size_t i = 0; i < own->count; i++) {
        const struct sp_indexed_row *a = &sp_builtin_index_rows[built->first + i];
        const struct sp_indexed_row *b = &index->rows.items[own->first + i];
        assert_string_equal(sp_builtin_index_text + a->name, index->text.data + b->name);
        assert_int_equal(a->unit, b->unit);
        assert_int_equal(a->flags, b->flags);
    }
}

static void test_index_is_of_these_tables(void **state)
{
    (void)state;
    struct shapeproof_error error;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct sp_table_index index = {0};
    assert_int_equal(sp_builtin_index_count, sp_builtin_unit_count);
    for (size_t i = 0; i < sp_builtin_unit_count; i++) {
        const struct sp_unit *unit = sp_tables_at(tables, i);
        assert_non_null(unit);
        if (!unit->about) assert_int_equal(sp_tables_place_of(tables, unit), i);
        const struct sp_indexed_unit own = sp_table_index_add(&index, tables, unit);
        assert_same_rows(&index, &own, i);
    }
    sp_table_index_free(&index);
    shapeproof_tables_free(tables);
}

/* Names of tensors, of one component and of more; a name with a number and with an older name; a use under a
 * condition. */
static const char TEXT[] = "part linear\n"
                           "weight (2)\n"
                           "bias (2) if bias\n"
                           "\n"
                           "table index_sample\n"
                           "[body] for i in 0..n-1\n"
                           "layers.{i}.mlp.up.* linear\n"
                           "layers.{i}.norm.gamma (2) was \"layers.{i}.norm.g\"\n"
                           "lm_head.* gpt2 if composite\n";

static void test_rows_by_their_ends(void **state)
{
    static const struct {
        const char *name;
        unsigned flags;
    } wanted[] = {{"up.", SP_INDEXED_USE | SP_INDEXED_SECTION},
                  {"norm.gamma", 0},
                  {"norm.g", SP_INDEXED_OPTIONAL},
                  {"lm_head.", SP_INDEXED_USE | SP_INDEXED_OPTIONAL | SP_INDEXED_ALTERNATIVE}};
    (void)state;
    struct shapeproof_error error;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (shapeproof_tables_add_text(tables, "sample", TEXT, sizeof TEXT - 1, &error)) fail_msg("%s", error.message);
    struct sp_table_index index = {0};
    const struct sp_unit *unit = sp_tables_unit(tables, "index_sample");
    const struct sp_indexed_unit own = sp_table_index_add(&index, tables, unit);
    assert_int_equal(own.count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < own.count; i++) {
        const struct sp_indexed_row *row = &index.rows.items[own.first + i];
        assert_string_equal(index.text.data + row->name, wanted[i].name);
        assert_int_equal(row->flags, wanted[i].flags);
    }
    assert_int_equal(index.rows.items[own.first].unit, sp_builtin_unit_count); /* the user's own part */
    assert_int_equal(index.rows.items[own.first + 3].unit, sp_tables_place(tables, "gpt2"));
    sp_table_index_free(&index);
    shapeproof_tables_free(tables);
}

/* How many tables build on one is told by the index; those of the user's count as well. */
static void test_heirs(void **state)
{
    static const char heir[] = "table heir_sample extends gpt2\n";
    (void)state;
    struct shapeproof_error error;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    const struct sp_unit *gpt2 = sp_tables_unit(tables, "gpt2");
    const size_t before = sp_count_heirs(tables, gpt2);
    size_t count, counted = 0;
    const size_t *list = sp_tables_list(tables, &count);
    for (size_t i = 0; i < count; i++)
        for (const struct sp_unit *unit = sp_tables_at(tables, list[i]); (unit = unit->parent);)
            counted += unit == gpt2;
    assert_int_equal(before, counted);
    if (shapeproof_tables_add_text(tables, "sample", heir, sizeof heir - 1, &error)) fail_msg("%s", error.message);
    assert_int_equal(sp_count_heirs(tables, gpt2), before + 1);
    shapeproof_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index_is_of_these_tables),
        cmocka_unit_test(test_rows_by_their_ends),
        cmocka_unit_test(test_heirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
