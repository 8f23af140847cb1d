/* SPDX-License-Identifier: MIT
 * Lines of 80 columns: where they break, and where they must not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/common.h"
#include "report/wrap.h"

/* Wraps `said`, which stands behind `label`. */
static void assert_wrapped(const char *label, const char *said, size_t indent, const char *expected)
{
    struct sp_text text = {0};
    sp_text_puts(&text, label);
    const size_t begin = text.length;
    sp_text_puts(&text, said);
    sp_wrap(&text, begin, indent);
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
}

#define TEN "123456789 "
#define FIFTY TEN TEN TEN TEN TEN
#define LINE FIFTY TEN TEN "123456789" /* 79 columns */

static void lines_end_before_a_word_that_does_not_fit(void **state)
{
    (void)state;
    assert_wrapped("", LINE " and more", 4, LINE "\n    and more");
    assert_wrapped("", LINE "0 and more", 4, LINE "0\n    and more");
    assert_wrapped("  error  ", FIFTY TEN "123456789 12", 4, "  error  " FIFTY TEN "123456789\n    12");
    assert_wrapped("", "", 4, "");
}

static void columns_are_of_characters(void **state)
{
    (void)state;
    assert_wrapped("\033[31merror\033[0m ", FIFTY TEN "123456789 1234 more", 4,
                   "\033[31merror\033[0m " FIFTY TEN "123456789 1234\n    more");
    assert_wrapped("", FIFTY TEN TEN "\u00e4\u00f6\u00fc456789 more", 4,
                   FIFTY TEN TEN "\u00e4\u00f6\u00fc456789\n    more");
}

/* A patch is copied, a name is searched for. */
static void what_belongs_together_is_not_broken(void **state)
{
    (void)state;
    assert_wrapped("", FIFTY TEN "(50257, 768) (64 tensors)", 4, FIFTY TEN "(50257, 768)\n    (64 tensors)");
    assert_wrapped("", FIFTY TEN "write {\"n_embd\": 768, \"n_layer\": 12} into config.json", 4,
                   FIFTY TEN "write\n    {\"n_embd\": 768, \"n_layer\": 12} into config.json");
    assert_wrapped("", "write {\"list\": [" FIFTY FIFTY "0]} into config.json", 4,
                   "write\n    {\"list\": [" FIFTY FIFTY "0]}\n    into config.json");
    assert_wrapped("", FIFTY TEN TEN "a { that is open", 4, FIFTY TEN TEN "a { that\n    is open");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_end_before_a_word_that_does_not_fit),
                                       cmocka_unit_test(columns_are_of_characters),
                                       cmocka_unit_test(what_belongs_together_is_not_broken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
