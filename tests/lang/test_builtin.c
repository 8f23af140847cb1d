/* SPDX-License-Identifier: MIT
 * The built-in tables are parsed when they are asked for, and what the build notes of each is what its text says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/tables.h"
#include "lang/tables_fixture.h"

static void assert_same_texts(const char *const *one, size_t count, const char *const *other, size_t other_count)
{
    assert_int_equal(count, other_count);
    for (size_t i = 0; i < count; i++) assert_string_equal(one[i], other[i]);
}

static void test_the_index_says_what_the_texts_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sp_builtin_unit_count; i++) {
        const struct sp_entry noted = sp_tables_entry(tables, i);
        const struct sp_unit *unit = sp_tables_at(tables, i);
        if (!unit) fail_msg("%s: %s", noted.name, shapeproof_tables_messages(tables));
        assert_string_equal(noted.name, unit->name);
        assert_string_equal(noted.title, unit->title);
        assert_int_equal(noted.is_table, unit->is_table);
        assert_int_equal(noted.has_claims, unit->claim_count > 0);
        assert_string_equal(noted.file, unit->span.source->name);
        assert_string_equal(noted.about ? noted.about : "", unit->about ? unit->about : "");
        assert_same_texts(noted.model_types, noted.model_type_count, unit->model_types, unit->model_type_count);
        assert_same_texts(noted.architectures, noted.architecture_count, unit->architectures, unit->architecture_count);
        assert_int_equal(sp_builtin_units[i].begin, unit->begin);
        assert_int_equal(sp_builtin_units[i].line, sp_span_position(unit->span).line);
    }
}

/* Each file is its units, one behind the other. */
static void test_the_index_leaves_nothing_out(void **state)
{
    (void)state;
    size_t units = 0;
    for (size_t file = 0; file < sp_builtin_file_count; file++) {
        const size_t first = units;
        for (; units < sp_builtin_unit_count && sp_builtin_units[units].file == file; units++)
            if (units > first) assert_int_equal(sp_builtin_units[units].begin, sp_builtin_units[units - 1].end);
        assert_true(units > first);
        assert_int_equal(sp_builtin_units[units - 1].end, sp_builtin_files[file].length);
        struct shapeproof_error error = {0};
        struct shapeproof_tables *set = shapeproof_tables_new(&error);
        const struct sp_builtin_file *text = &sp_builtin_files[file];
        if (shapeproof_tables_add_text(set, "file", sp_builtin_text + text->text, text->length, &error) !=
            SHAPEPROOF_OK)
            fail_msg("%s", error.message);
        assert_int_equal(set->own.count, units - first);
        shapeproof_tables_free(set);
    }
    assert_int_equal(units, sp_builtin_unit_count);
}

static void test_only_what_is_used_is_parsed(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *set = shapeproof_tables_new(&error);
    (void)state;
    assert_int_equal(shapeproof_tables_count(set), shapeproof_tables_count(tables));
    assert_int_equal(set->builtin.count, 0);
    assert_non_null(sp_tables_table(set, "mistral", &error)); /* llama, and the parts that it uses */
    assert_true(set->builtin.count > 2 && set->builtin.count < 10);
    shapeproof_tables_free(set);
}

/* What a user's file hides stays what it was to the built-in tables, whenever they are parsed. */
static void test_built_in_tables_see_no_others(void **state)
{
    static const char text[] = "part linear(a, b)\nodd (1)\n\ntable llama\nw (1)\n\ntable mine extends mistral\n";
    struct shapeproof_error error = {0};
    struct shapeproof_tables *set = shapeproof_tables_new(&error);
    (void)state;
    assert_int_equal(shapeproof_tables_add_text(set, "mine.shapes", text, sizeof text - 1, &error), SHAPEPROOF_OK);
    assert_false(sp_tables_unit(set, "gated_mlp")->sections[0].rows[0].unit->span.source->own);
    assert_false(sp_tables_unit(set, "mine")->parent->parent->span.source->own);
    assert_true(sp_tables_unit(set, "llama")->span.source->own);
    assert_int_equal(shapeproof_tables_count(set), shapeproof_tables_count(tables) + 1);
    shapeproof_tables_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_index_says_what_the_texts_say),
        cmocka_unit_test(test_the_index_leaves_nothing_out),
        cmocka_unit_test(test_only_what_is_used_is_parsed),
        cmocka_unit_test(test_built_in_tables_see_no_others),
    };
    return cmocka_run_group_tests(tests, open_tables, close_tables);
}
