/* SPDX-License-Identifier: MIT
 * Texts from outside in CSV and in Markdown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "report/csv.h"
#include "report/markdown.h"

static void test_csv(void **state)
{
    static const char *const titles[] = {"a", "b,c", NULL};
    struct sp_text text = {0};
    struct sp_csv csv = {.text = &text};
    (void)state;
    sp_csv_heading(&csv, titles);
    sp_csv_field(&csv, NULL);
    sp_csv_field(&csv, "say \"x\"");
    sp_csv_number(&csv, 12);
    sp_csv_end_row(&csv);
    sp_csv_field(&csv, "two\nlines \x1b");
    sp_csv_end_row(&csv);
    assert_string_equal(text.data, "a,\"b,c\"\r\n,\"say \"\"x\"\"\",12\r\ntwo\\x0alines \\x1b\r\n");
    sp_text_free(&text);
}

static void test_markdown_text(void **state)
{
    static const char *const texts[][2] = {
        {"h.{0,1}.attn_c (64, 16)", "h.{0,1}.attn\\_c (64, 16)"},
        {"*a* `b` [c](d) <e> | # & ~ $ !", "\\*a\\* \\`b\\` \\[c\\](d) \\<e\\> \\| \\# \\& \\~ \\$ \\!"},
        {"\x1b", "\\\\x1b"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sp_text text = {0};
        sp_text_puts(&text, "");
        sp_markdown_text(&text, texts[i][0]);
        assert_string_equal(text.data, texts[i][1]);
        sp_text_free(&text);
    }
}

static void test_markdown_code(void **state)
{
    static const struct {
        const char *string, *code, *cell_code;
    } texts[] = {
        {"a_b", "`a_b`", "`a_b`"},
        {"a|b", "`a|b`", "`a\\|b`"},
        {"`a``b", "``` `a``b ```", "``` `a``b ```"},
        {"", "` `", "` `"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sp_text code = {0}, cell_code = {0};
        sp_markdown_code(&code, texts[i].string);
        sp_markdown_cell_code(&cell_code, texts[i].string);
        assert_string_equal(code.data, texts[i].code);
        assert_string_equal(cell_code.data, texts[i].cell_code);
        sp_text_free(&code);
        sp_text_free(&cell_code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_markdown_text),
        cmocka_unit_test(test_markdown_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
