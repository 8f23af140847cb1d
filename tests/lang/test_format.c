/* SPDX-License-Identifier: MIT
 * shapeproof_table_format: what it lays out says the same and stays as it is, and so do the built-in tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/builtin.h"
#include "lang/tree.h"
#include "shapeproof/table.h"

static char *formatted(const char *text)
{
    struct shapeproof_error error = {0};
    size_t length = 0;
    char *result = shapeproof_table_format("t.shapes", text, strlen(text), &length, &error);
    if (!result) print_message("%s\n", error.message);
    assert_non_null(result);
    assert_int_equal(length, strlen(result));
    return result;
}

static void assert_same_tree(const char *one, const char *other)
{
    char *tree = tree_of(one), *again = tree_of(other);
    assert_non_null(tree);
    assert_non_null(again);
    assert_string_equal(tree, again);
    free(tree);
    free(again);
}

/* Laid out so, with the same meaning, and for good. */
static void assert_layout(const char *text, const char *expected)
{
    char *once = formatted(text);
    assert_string_equal(once, expected);
    char *twice = formatted(once);
    assert_string_equal(twice, once);
    assert_same_tree(text, once);
    free(once);
    free(twice);
}

/* A name that leaves no room for its shape moves no other row, neither before the shape is broken nor after. */
static void test_a_name_of_a_line(void **state)
{
    (void)state;
    char text[512], expected[1024], name[119] = {0};
    memset(name, 'a', sizeof name - 1);
    snprintf(text, sizeof text, "table t\n[g]\nq (2, 3) if f\n%s (2, 3)\n[h]\nv (2)\nw (2)\nx (2)\ny (2)\n", name);
    snprintf(expected, sizeof expected,
             "table t\n[g]\nq   (2, 3)   if f\n%s   (2,\n%122s3)\n[h]\nv   (2)\nw   (2)\nx   (2)\ny   (2)\n", name, "");
    assert_layout(text, expected);
}

static void test_the_built_in_tables_are_laid_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sp_builtin_file_count; i++) {
        const char *own = sp_builtin_text + sp_builtin_files[i].text;
        char *text = formatted(own);
        if (strcmp(text, own) != 0)
            fail_msg("%s is not as 'shapeproof fmt' lays it out", sp_builtin_word(sp_builtin_files[i].words));
        free(text);
    }
}

/* The same table with wide blanks, but in texts, comments and behind a bracket, where the name of a group may be. */
static char *widened(const char *text)
{
    struct sp_text out = {0};
    for (const char *end; *text; text = end) {
        bool as_it_is = false;
        for (end = text + strcspn(text, "\n") + 1; text < end; text++) {
            sp_text_append(&out, text, 1);
            if (strchr("\"#[", *text)) as_it_is = true;
            if (*text == ' ' && !as_it_is) sp_text_puts(&out, " \t ");
        }
    }
    return out.data;
}

/* The comment above a table is its title, whatever blanks are around it and the table. */
static void test_titles_stay(void **state)
{
    (void)state;
    static const char *const texts[] = {"# A title. \t\ntable t\nx (1)\n", "  # A title.\ntable t\nx (1)\n",
                                        "# A title.\n  table t\nx (1)\n", "# A title.\r\ntable t\r\nx (1)\r\n",
                                        "\xef\xbb\xbf# A title.\ntable t\nx (1)\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *once = formatted(texts[i]);
        assert_same_tree(texts[i], once);
        assert_same_tree(once, "# A title.\ntable t\nx (1)\n");
        free(once);
    }
}

static void test_what_they_say_stays_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sp_builtin_file_count; i++) {
        const char *own = sp_builtin_text + sp_builtin_files[i].text;
        char *other = widened(own);
        char *text = formatted(other), *again = formatted(text);
        assert_same_tree(other, own);
        assert_same_tree(text, own);
        assert_string_equal(again, text);
        free(other);
        free(text);
        free(again);
    }
}

static void test_columns(void **state)
{
    (void)state;
    assert_layout("# A title.\n"
                  "table  t extends  u\n"
                  "model_type   \"a\" ,\"b\"\n"
                  "V=vocab_size # words\n"
                  "width=hidden_size   default 8  # of the model\n"
                  "f( a,b )=a*b+1\n"
                  "\n\n\n"
                  "[ a group ]   for i in 0..N-1   if  x\n"
                  "  h.{ i+1 }.weight ( V ,width )   if x   same   as w.{i } when y\n"
                  "\tw.{i} (V)   I64  buffer was old.{i}\n"
                  "x.*   part( V,bias=false )from  x  with a=1,b = 2 optional\n",
                  "# A title.\n"
                  "table t extends u\n"
                  "model_type \"a\", \"b\"\n"
                  "V       = vocab_size              # words\n"
                  "width   = hidden_size default 8   # of the model\n"
                  "f(a, b) = a*b+1\n"
                  "\n"
                  "[a group] for i in 0..N-1 if x\n"
                  "h.{i+1}.weight   (V, width)                                       if x same as w.{i} when y\n"
                  "w.{i}            (V)                                              I64 buffer was old.{i}\n"
                  "x.*              part(V, bias = false) from x with a = 1, b = 2   optional\n");
}

static void test_rows_share_the_column_of_their_table(void **state)
{
    (void)state;
    assert_layout("table t\na (1)\n[g]\nlonger.name (2)\npart p\nb (3)\n",
                  "table t\na             (1)\n[g]\nlonger.name   (2)\npart p\nb   (3)\n");
}

static void test_lines_that_go_on(void **state)
{
    (void)state;
    assert_layout("table t\n"
                  "list = [ 1, # one\n"
                  "   # two comes now\n"
                  "\n"
                  "200,\n"
                  "(3 +\n"
                  "4)]# all\n"
                  "w (list[0])\n",
                  "table t\n"
                  "list = [1,     # one\n"
                  "        # two comes now\n"
                  "        200,\n"
                  "        (3 +\n"
                  "         4)]   # all\n"
                  "w   (list[0])\n");
}

static void test_long_lines_are_broken_behind_commas(void **state)
{
    (void)state;
    struct sp_text long_list = {0}, expected = {0};
    sp_text_puts(&long_list, "table t\nl = [");
    for (int i = 0; i < 20; i++) sp_text_printf(&long_list, "%s\"a_name_%02d\"", i ? "," : "", i);
    sp_text_puts(&long_list, "]\nw (len(l))\n");
    sp_text_puts(&expected, "table t\nl = [");
    for (int i = 0; i < 20; i++) {
        if (i) sp_text_puts(&expected, i % 8 ? ", " : ",\n     ");
        sp_text_printf(&expected, "\"a_name_%02d\"", i);
    }
    sp_text_puts(&expected, "]\nw   (len(l))\n");
    assert_layout(long_list.data, expected.data);
    sp_text_free(&long_list);
    sp_text_free(&expected);
}

/* Neighbours of which one is too long at the column of the table have one of their own. */
/* A list within a list is not torn apart where a line has room for all of it. */
static void test_lists_in_lists_begin_lines(void **state)
{
    (void)state;
    assert_layout(
        "table t\n"
        "blocks = block_configs default [[[3, 16, 32, 1, false]], [[3, 32, 64, 2, false], [3, 64, 64, 1, false]], "
        "[[3, 64, 128, 2, false], [3, 128, 128, 1, false]]]\n",
        "table t\n"
        "blocks = block_configs default [[[3, 16, 32, 1, false]], [[3, 32, 64, 2, false], [3, 64, 64, 1, false]],\n"
        "                                [[3, 64, 128, 2, false], [3, 128, 128, 1, false]]]\n");
}

static void test_rows_that_are_too_long(void **state)
{
    (void)state;
    const char *name = "a.name.that.is.longer.than.most.others.are.in.any.table.that.there.is";
    const char *tie = "same as some.other.tensor.of.another.name.weight when tied";
    struct sp_text text = {0}, expected = {0};
    sp_text_printf(&text, "table t\n%s (1)\n%s2 (1)\nx (1)\n\nhead.weight (22) %s\nhead.bias (1)\n", name, name, tie);
    sp_text_printf(&expected, "table t\n%s    (1)\n%s2   (1)\nx%*s(1)\n\nhead.weight   (22)   %s\nhead.bias     (1)\n",
                   name, name, (int)strlen(name) + 3, "", tie);
    assert_layout(text.data, expected.data);
    sp_text_free(&text);
    sp_text_free(&expected);
}

static void test_names_are_left_alone(void **state)
{
    (void)state;
    assert_layout("table t\n\"a  name # ( here\"  (1)\na#b(\"[ (2) same as \"a  name # ( here\"  # a comment\n",
                  "table t\n\"a  name # ( here\"   (1)\na#b(\"[               (2)   same as \"a  name # ( here\"   # "
                  "a comment\n");
}

/* A quote in the name of a group begins no text. */
static void test_quotes_in_names(void **state)
{
    (void)state;
    assert_layout("table t\n[l\"eft] for s in [\"x\",\"y\"]\nw.{s} (1)\n",
                  "table t\n[l\"eft] for s in [\"x\", \"y\"]\nw.{s}   (1)\n");
    assert_layout("table t\na\"b (1, 2) if x in [\"p\",\"q\"] was c\"d\n",
                  "table t\na\"b   (1, 2)   if x in [\"p\", \"q\"] was c\"d\n");
}

static void test_claims(void **state)
{
    (void)state;
    assert_layout("table t\n[a  b]\nw (n)\n[x]\ny (n)\nclaims for t when n=3\nk=2*[a  b]\n"
                  "claim  [a  b]+[x] = k when l = [ 1,2 ],n = (true ? 1 : 2) \"a  source\"\n"
                  "erratum example n = 3:[a  b]  rounds  to \"3\" # no\n",
                  "table t\n[a  b]\nw   (n)\n[x]\ny   (n)\nclaims for t when n = 3\nk = 2*[a  b]\n"
                  "claim [a  b]+[x] = k when l = [1, 2], n = (true ? 1 : 2) \"a  source\"\n"
                  "erratum example n = 3:[a  b] rounds to \"3\"   # no\n");
}

static void test_what_is_no_line(void **state)
{
    (void)state;
    assert_layout("", "");
    assert_layout("\n \n\n", "");
    assert_layout("\xef\xbb\xbf# only this \r\n\r\n", "# only this\n");
}

static void test_mistakes_are_the_parsers(void **state)
{
    (void)state;
    const char *text = "table t\nw (n\n";
    struct shapeproof_error error = {0};
    assert_null(shapeproof_table_format("mine.shapes", text, strlen(text), NULL, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_TABLE);
    assert_string_equal(error.message, "mine.shapes:2:3: this bracket is never closed: expected ')'\n"
                                       "    2 | w (n\n"
                                       "      |   ^");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_name_of_a_line),
        cmocka_unit_test(test_the_built_in_tables_are_laid_out),
        cmocka_unit_test(test_titles_stay),
        cmocka_unit_test(test_what_they_say_stays_the_same),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_rows_share_the_column_of_their_table),
        cmocka_unit_test(test_lines_that_go_on),
        cmocka_unit_test(test_long_lines_are_broken_behind_commas),
        cmocka_unit_test(test_lists_in_lists_begin_lines),
        cmocka_unit_test(test_rows_that_are_too_long),
        cmocka_unit_test(test_names_are_left_alone),
        cmocka_unit_test(test_quotes_in_names),
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_what_is_no_line),
        cmocka_unit_test(test_mistakes_are_the_parsers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
