/* SPDX-License-Identifier: MIT
 * The forms that all reports share, the table aligner and the JSON writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_write.h"
#include "report/common.h"
#include "report/table.h"
#include "shapeproof/shapeproof.h"

/* Compares what was written, and frees it. */
static void assert_text(struct sp_text *text, const char *expected)
{
    assert_string_equal(text->data ? text->data : "", expected);
    sp_text_free(text);
}

static void bytes_are_human(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KiB"},
                 {1048524, "1023.9 KiB"},
                 {1048525, "1.0 MiB"}, /* 1023.95 KiB: never 1024.0 KiB */
                 {154389504, "147.2 MiB"},
                 {UINT64_MAX, "16.0 EiB"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_text text = {0};
        sp_put_bytes(&text, cases[i].bytes);
        assert_text(&text, cases[i].text);
    }
}

static void numbers_are_short(void **state)
{
    static const struct {
        uint64_t number;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1.0 K"},
                 {999949, "999.9 K"},
                 {999950, "1.0 M"}, /* never 1000.0 K */
                 {124439808, "124.4 M"},
                 {46702792704, "46.7 B"},
                 {UINT64_MAX, "18446744.1 T"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_text text = {0};
        sp_put_short(&text, cases[i].number);
        assert_text(&text, cases[i].text);
    }
}

static void numbers_are_grouped(void **state)
{
    struct sp_text text = {0};
    (void)state;
    sp_text_grouped(&text, 0);
    sp_text_puts(&text, " ");
    sp_text_grouped(&text, 999);
    sp_text_puts(&text, " ");
    sp_text_grouped(&text, 124439808);
    sp_text_puts(&text, " ");
    sp_text_grouped(&text, UINT64_MAX);
    assert_text(&text, "0 999 124,439,808 18,446,744,073,709,551,615");
}

static void shapes_are_in_parentheses(void **state)
{
    const uint64_t shape[] = {50257, 768, UINT64_MAX};
    struct sp_text text = {0};
    (void)state;
    for (size_t rank = 0; rank <= 3; rank++) sp_put_shape(&text, shape, rank);
    assert_text(&text, "()(50257)(50257, 768)(50257, 768, 18446744073709551615)");
}

static void long_values_are_cut_at_a_character(void **state)
{
    struct sp_text text = {0};
    (void)state;
    sp_put_cut(&text, "12345", 5);
    sp_text_puts(&text, "|");
    sp_put_cut(&text, "123456", 5);
    sp_text_puts(&text, "|");
    sp_put_cut(&text, "\u00e4\u00f6\u00fc", 2);
    sp_text_puts(&text, "|");
    sp_put_cut(&text, "", 0);
    assert_text(&text, "12345|12345... (6 bytes)|\u00e4\u00f6... (6 bytes)|");
}

static void outside_text_is_made_visible(void **state)
{
    char *visible = shapeproof_report_visible("a\33[31m\xff\u202e\u00e4");
    (void)state;
    assert_string_equal(visible, "a\\x1b[31m\\xff\\u{202e}\u00e4");
    shapeproof_free(visible);
}

/* ---- tables ---- */

static const struct sp_column columns[] = {
    {"name", SP_LEFT}, {"empty", SP_LEFT}, {"size", SP_RIGHT}, {"note", SP_LEFT}};

static void add_row(struct sp_table *table, const char *name, const char *size, const char *note)
{
    sp_text_puts(sp_table_cell(table), name);
    sp_table_cell(table);
    sp_text_puts(sp_table_cell(table), size);
    sp_text_puts(sp_table_cell(table), note);
}

static void columns_are_aligned(void **state)
{
    const struct shapeproof_report_options options = {0};
    struct sp_table table = {.columns = columns, .column_count = 4};
    struct sp_text text = {0};
    (void)state;
    add_row(&table, "a", "1", "");
    add_row(&table, "\u00e4\u00f6", "12,345", "x");
    sp_table_render(&table, &text, &options);
    assert_text(&text, "name    size  note\n"
                       "a          1\n"
                       "\u00e4\u00f6    12,345  x\n");
}

static void a_long_name_breaks_the_line_and_is_not_cut(void **state)
{
    const struct shapeproof_report_options options = {.width = 30};
    struct sp_table table = {.columns = columns, .column_count = 4};
    struct sp_text text = {0};
    (void)state;
    add_row(&table, "a.name.that.is.longer.than.all.there.is", "1", "wide notes are left to the terminal");
    add_row(&table, "short", "12", "");
    sp_table_render(&table, &text, &options);
    assert_text(&text, "name                      size  note\n"
                       "a.name.that.is.longer.than.all.there.is\n"
                       "                             1  wide notes are left to the terminal\n"
                       "short                       12\n");
}

static void a_single_long_name_does_not_widen_the_table(void **state)
{
    const struct shapeproof_report_options options = {0};
    struct sp_table table = {.columns = columns, .column_count = 4};
    struct sp_text text = {0};
    (void)state;
    add_row(&table, "a.name.that.is.far.longer.than.all.others", "123", "note");
    for (int i = 0; i < 9; i++) add_row(&table, "short", "12", "note");
    sp_table_render(&table, &text, &options);
    assert_int_equal(strncmp(text.data,
                             "name   size  note\n"
                             "a.name.that.is.far.longer.than.all.others   123  note\n"
                             "short    12  note\n"
                             "short    12  note\n",
                             108),
                     0);
    sp_text_free(&text);
}

static void colour_does_not_count_as_width(void **state)
{
    const struct shapeproof_report_options options = {.color = true};
    struct sp_table table = {.columns = columns, .column_count = 4};
    struct sp_text text = {0};
    (void)state;
    add_row(&table, "a", "1", "x");
    sp_table_color(&table, SP_COLOR_RED);
    sp_table_render(&table, &text, &options);
    assert_text(&text, "\33[2mname\33[0m  \33[2msize\33[0m  \33[2mnote\33[0m\n"
                       "a        1  \33[31mx\33[0m\n");
}

static void a_table_without_rows_is_nothing(void **state)
{
    const struct shapeproof_report_options options = {0};
    struct sp_table table = {.columns = columns, .column_count = 4};
    struct sp_text text = {0};
    (void)state;
    sp_table_render(&table, &text, &options);
    assert_text(&text, "");
}

/* What says why is not torn apart behind a value that leaves it little room. */
static void words_begin_a_line_where_they_have_no_room(void **state)
{
    static const struct sp_column reasons[] = {{"key", SP_LEFT}, {"value", SP_LEFT}, {"because", SP_LEFT}};
    static const char value[] = "[\"a long list\", \"of texts\", \"that fills the line\"]";
    const struct shapeproof_report_options options = {0};
    struct sp_table table = {.columns = reasons, .column_count = 3, .prose = true};
    struct sp_text text = {0};
    (void)state;
    sp_text_puts(sp_table_cell(&table), "kinds");
    sp_text_puts(sp_table_cell(&table), value);
    sp_text_puts(sp_table_cell(&table), "the tensor down.weight is there");
    sp_text_puts(sp_table_cell(&table), "depth");
    sp_text_puts(sp_table_cell(&table), "3");
    sp_text_puts(sp_table_cell(&table), "it is short");
    sp_table_render(&table, &text, &options);
    assert_text(&text, "key    value                                               because\n"
                       "kinds  [\"a long list\", \"of texts\", \"that fills the line\"]\n"
                       "                                        the tensor down.weight is there\n"
                       "depth  3                                                   it is short\n");
}

/* ---- JSON ---- */

static void json_breaks_lines_by_itself(void **state)
{
    const uint64_t numbers[] = {1, UINT64_MAX};
    struct sp_text text = {0};
    struct sp_writer json = sp_write_document(&text, "shapeproof.test/1");
    (void)state;
    sp_write_key_open(&json, "empty", '[');
    sp_write_close(&json);
    sp_write_key_optional(&json, "absent", NULL);
    sp_write_key_filled(&json, "blank", "");
    sp_write_key_open(&json, "rows", '[');
    for (int i = 0; i < 2; i++) {
        sp_write_open_line(&json, '{');
        sp_write_key_numbers(&json, "shape", numbers, 2);
        sp_write_key_open(&json, "flags", '[');
        sp_write_string(&json, "a\"b");
        sp_write_string(&json, NULL);
        sp_write_close(&json);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "more", '[');
    sp_write_bool(&json, true);
    sp_write_raw(&json, "-1.5");
    sp_write_null(&json);
    sp_write_close(&json);
    sp_write_close(&json);
    assert_text(&text, "{\n"
                       "  \"schema\": \"shapeproof.test/1\",\n"
                       "  \"empty\": [],\n"
                       "  \"rows\": [\n"
                       "    {\"shape\": [1, 18446744073709551615], \"flags\": [\"a\\\"b\", null]},\n"
                       "    {\"shape\": [1, 18446744073709551615], \"flags\": [\"a\\\"b\", null]}\n"
                       "  ],\n"
                       "  \"more\": [\n"
                       "    true,\n"
                       "    -1.5,\n"
                       "    null\n"
                       "  ]\n"
                       "}\n");
}

static void library_and_build_agree_on_the_version(void **state)
{
    (void)state;
    assert_string_equal(shapeproof_version(), SP_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_human),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(numbers_are_grouped),
        cmocka_unit_test(shapes_are_in_parentheses),
        cmocka_unit_test(long_values_are_cut_at_a_character),
        cmocka_unit_test(outside_text_is_made_visible),
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(a_long_name_breaks_the_line_and_is_not_cut),
        cmocka_unit_test(a_single_long_name_does_not_widen_the_table),
        cmocka_unit_test(colour_does_not_count_as_width),
        cmocka_unit_test(a_table_without_rows_is_nothing),
        cmocka_unit_test(words_begin_a_line_where_they_have_no_room),
        cmocka_unit_test(json_breaks_lines_by_itself),
        cmocka_unit_test(library_and_build_agree_on_the_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
