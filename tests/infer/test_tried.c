/* SPDX-License-Identifier: MIT
 * Which values are tried where constraints tell none, and how many: each limit from both sides. A condition such as
 * k^2 % 10007 == 838 says in a way that nothing turns round which number k is. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/searching.h"

#define ODD "model_type \"odd\"\n"

/* What the square of a number leaves. */
static unsigned rest_of(unsigned number) { return number * number % 10007; }

static void add_size(struct model *model, const char *front, unsigned number, uint64_t size)
{
    char name[40];
    snprintf(name, sizeof name, "%s.%u.corge", front, number);
    model_add_shape(model, name, SHAPE(size));
}

/* ---- which attempts ---- */

/* Tables that have the names and not the shapes, and one behind them that has these with its matrices transposed. */
static bool is_transposed_behind(unsigned others)
{
    struct sp_text text = {0};
    struct searching searching;
    put_tables(&text, "other", others, ODD "[a]\none.quux (7, 9)\ntwo.quux (7, 9)\n");
    put_tables(&text, "own", 1, ODD "[a]\none.quux (3, 4)\ntwo.quux (3, 4)\n");
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "one.quux", SHAPE(4, 3));
    model_add_shape(&searching.model, "two.quux", SHAPE(4, 3));
    return search_explains(&searching);
}

/* The same with one whose key is next to its default, while those of the others are far from it. */
static bool is_repaired_behind(unsigned others)
{
    static const char rows[] = ODD "[a]\none.quux (4)\ntwo.quux ((k default 500)^2 %% 10007 == %u ? 1000 : 5)\n";
    struct sp_text text = {0}, other = {0}, own = {0};
    struct searching searching;
    sp_text_printf(&other, rows, rest_of(777));
    sp_text_printf(&own, rows, rest_of(501));
    put_tables(&text, "other", others, other.data);
    put_tables(&text, "own", 1, own.data);
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "one.quux", SHAPE(4));
    model_add_shape(&searching.model, "two.quux", SHAPE(1000));
    sp_text_free(&other);
    sp_text_free(&own);
    return search_explains(&searching);
}

static void nearest_attempts(void **state)
{
    (void)state;
    assert_true(is_transposed_behind(1));
    assert_false(is_transposed_behind(2));
    assert_true(is_repaired_behind(3));
    assert_false(is_repaired_behind(4));
}

/* ---- which values ---- */

/* A factor of a thousand, by default of one: in thousandths. */
static bool is_factor_found(unsigned thousandths)
{
    struct sp_text text = {0};
    struct searching searching;
    sp_text_printf(&text,
                   "table own\n" ODD "[a]\none.quux (4)\n"
                   "two.quux (int((f default 1.0)*1000 + 0.5)^2 %% 10007 == %u ? 1000 : 5)\n",
                   rest_of(thousandths));
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "one.quux", SHAPE(4));
    model_add_shape(&searching.model, "two.quux", SHAPE(1000));
    return search_explains(&searching);
}

/* Twentieths, up to 4. */
static void factors(void **state)
{
    (void)state;
    assert_true(is_factor_found(3950));
    assert_true(is_factor_found(4000));
    assert_false(is_factor_found(4050));
    assert_false(is_factor_found(2025));
}

/* One item of a list is another one than by default. */
static bool is_item_found(unsigned number)
{
    struct sp_text text = {0};
    struct searching searching;
    sp_text_puts(&text, "table own\n" ODD "[a]\none.quux (4)\n[b] for i in 0..25\nw.{i}.corge ((l default [");
    for (unsigned i = 0; i < 26; i++) sp_text_puts(&text, i ? ", 500" : "500");
    sp_text_puts(&text, "])[i]^2 % 10007)\n");
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "one.quux", SHAPE(4));
    for (unsigned i = 0; i < 26; i++) add_size(&searching.model, "w", i, rest_of(i == number ? 501 : 500));
    return search_explains(&searching);
}

/* The number in so many lists, one within the other. */
static bool is_found_within(unsigned lists)
{
    struct sp_text text = {0};
    struct searching searching;
    sp_text_puts(&text, "table own\n" ODD "[a]\none.quux (4)\ntwo.quux ((l default ");
    for (unsigned i = 0; i < lists; i++) sp_text_puts(&text, "[");
    sp_text_puts(&text, "500");
    for (unsigned i = 0; i < lists; i++) sp_text_puts(&text, "]");
    sp_text_puts(&text, ")");
    for (unsigned i = 0; i < lists; i++) sp_text_puts(&text, "[0]");
    sp_text_printf(&text, "^2 %% 10007 == %u ? 1000 : 5)\n", rest_of(501));
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "one.quux", SHAPE(4));
    model_add_shape(&searching.model, "two.quux", SHAPE(1000));
    return search_explains(&searching);
}

static void items_of_lists(void **state)
{
    (void)state;
    assert_true(is_item_found(23));
    assert_false(is_item_found(24));
    assert_true(is_found_within(3));
    assert_false(is_found_within(4));
}

/* Two keys, of which the second one shows when the first one is right: in one tensor that is otherwise then, and so
 * many that are otherwise with both. */
static void put_two_keys(struct sp_text *text, unsigned first)
{
    sp_text_printf(text,
                   "table own\n" ODD "first = (k default 600)^2 %% 10007 == %u\n"
                   "both = first and (m default 600)^2 %% 10007 == %u\n",
                   rest_of(first), rest_of(601));
}

/* A key is 41 // 30 of its default, which is in that proportion to what it is as a size behind so many others are. */
static bool is_ratio_found(unsigned others)
{
    struct sp_text text = {0};
    struct searching searching;
    put_two_keys(&text, 820);
    sp_text_puts(&text, "[a]\n");
    for (unsigned i = 0; i < others; i++) sp_text_printf(&text, "c.%u.corge (both ? %u : 7)\n", i, 7001 + 7 * i);
    sp_text_puts(&text, "one.quux (both ? 410 : 300)\ntwo.quux (first ? 1000 : 5)\n");
    begin_text(&searching.model, &text);
    for (unsigned i = 0; i < others; i++) add_size(&searching.model, "c", i, 7001 + 7 * i);
    model_add_shape(&searching.model, "one.quux", SHAPE(410));
    model_add_shape(&searching.model, "two.quux", SHAPE(1000));
    return search_explains(&searching);
}

static void proportions(void **state)
{
    (void)state;
    assert_true(is_ratio_found(11));
    assert_false(is_ratio_found(12));
}

/* ---- how long ---- */

/* The first key makes one of so many errors less. */
static bool is_gain_taken(unsigned errors)
{
    struct sp_text text = {0};
    struct searching searching;
    put_two_keys(&text, 601);
    sp_text_printf(&text, "[a]\none.quux (first ? 1000 : 5)\n[b] for i in 0..%u\nw.{i}.corge (both ? 1000 : 5)\n",
                   errors - 2);
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "one.quux", SHAPE(1000));
    for (unsigned i = 0; i < errors - 1; i++) add_size(&searching.model, "w", i, 1000);
    return search_explains(&searching);
}

static void small_gains(void **state)
{
    (void)state;
    assert_true(is_gain_taken(63));
    assert_false(is_gain_taken(64));
}

/* Each key shows when the one before is right, and is tried before it: it takes a pass for each. */
static bool is_found_in_passes(unsigned keys)
{
    struct sp_text text = {0};
    struct searching searching;
    sp_text_printf(&text, "table own\n" ODD "ok0 = (k0 default 500)^2 %% 10007 == %u\n", rest_of(501));
    for (unsigned i = 1; i < keys; i++)
        sp_text_printf(&text, "ok%u = (k%u default 500)^2 %% 10007 == %u and ok%u\n", i, i, rest_of(501), i - 1);
    sp_text_puts(&text, "[a]\none.quux (4)\n");
    for (unsigned i = keys; i-- > 0;) sp_text_printf(&text, "w.%u.corge (1000) if ok%u\n", i, i);
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "one.quux", SHAPE(4));
    for (unsigned i = 0; i < keys; i++) add_size(&searching.model, "w", i, 1000);
    return search_explains(&searching);
}

static void passes(void **state)
{
    (void)state;
    assert_true(is_found_in_passes(12));
    assert_false(is_found_in_passes(13));
}

/* ---- what the file decides ---- */

/* Whether a flag is decided that only one of so many layers shows; there are sizes besides, from 20 on, by threes. */
static bool is_decided(unsigned layers, unsigned shown_by, unsigned sizes)
{
    struct sp_text text = {0};
    struct model model;
    sp_text_puts(&text, "table own\n" ODD "[a]\none.quux (4)\n");
    for (unsigned i = 0; i < sizes; i++) sp_text_printf(&text, "size.%u.corge (k%u)\n", i, i);
    sp_text_printf(&text, "[b] for i in 0..N-1\nw.{i}.corge (i == %u ? g default false ? 500 : 9 : 8)\n", shown_by);
    begin_text(&model, &text);
    model_add_shape(&model, "one.quux", SHAPE(4));
    for (unsigned i = 0; i < sizes; i++) add_size(&model, "size", i, 20 + 3 * i);
    for (unsigned i = 0; i < layers; i++) add_size(&model, "w", i, i == shown_by ? 500 : 8);
    FIND();
    assert_true(explains_all(&finding));
    assert_value(inferred(&finding, "g").value, "true");
    const bool decided = inferred(&finding, "g").determined;
    END();
    return decided;
}

/* The first four layers are looked at; the last one, unless it is beyond 1000; and where sizes point to a layer, as
 * long as there are no more than 24: the first ones, and two for each of ten sizes. */
static void layers_that_are_seen(void **state)
{
    (void)state;
    assert_true(is_decided(50, 3, 0));
    assert_false(is_decided(50, 4, 0));
    assert_true(is_decided(1001, 1000, 0));
    assert_false(is_decided(1002, 1001, 0));
    assert_true(is_decided(80, 20 + 3 * 9, 14));
    assert_false(is_decided(80, 20 + 3 * 10 - 1, 14));
}

/* Whether a flag is decided that does nothing under the class of that number, while all classes have the same tensors.
 */
static bool is_flag_decided(unsigned number)
{
    struct sp_text text = {0};
    struct model model;
    sp_text_puts(&text, "table own\n" ODD "architectures \"Odd0\"");
    for (unsigned i = 1; i < 7; i++) sp_text_printf(&text, ", \"Odd%u\"", i);
    sp_text_printf(&text,
                   "\nfree = architectures[0] == \"Odd%u\"\nrequire not absent(architectures), \"no class\"\n"
                   "[a]\none.quux (4)\ntwo.quux ((free ? 3 : flag default false ? 3 : 4)^2 %% 10007)\n",
                   number);
    begin_text(&model, &text);
    model_add_shape(&model, "one.quux", SHAPE(4));
    model_add_shape(&model, "two.quux", SHAPE(9));
    FIND();
    assert_true(explains_all(&finding));
    const bool decided = inferred(&finding, "flag").determined;
    END();
    return decided;
}

/* It may be another class: the first three are looked at. */
static void equal_classes(void **state)
{
    (void)state;
    assert_false(is_flag_decided(3));
    assert_true(is_flag_decided(4));
}

/* ---- relatives ---- */

/* A table that builds on one which explains a file of so many tensors: its factor is among the last values that are
 * compared with all of them. */
static bool is_relative_repaired(unsigned tensors)
{
    struct sp_text text = {0};
    struct searching searching;
    bool explains = false;
    sp_text_printf(&text,
                   "table first\n" ODD "[a] for i in 0..%u\nstem.{i}.corge (4)\n[b]\ntwo.quux (1000)\n"
                   "table own extends first\nmodel_type \"odder\"\n"
                   "[b]\ntwo.quux (int((f default 1.0)*1000 + 0.5)^2 %% 10007 == %u ? 1000 : 5)\n",
                   tensors - 2, rest_of(3950));
    begin_text(&searching.model, &text);
    for (unsigned i = 0; i < tensors - 1; i++) add_size(&searching.model, "stem", i, 4);
    model_add_shape(&searching.model, "two.quux", SHAPE(1000));
    search_file(&searching);
    for (size_t i = 0; i < searching.search.attempts.count; i++) {
        const struct sp_attempt *attempt = searching.search.attempts.items[i];
        if (strcmp(attempt->table->name, "own") == 0) explains = explains || sp_attempt_explains_all(attempt);
    }
    searching_close(&searching);
    return explains;
}

/* 25000 tensors are compared. */
static void relatives(void **state)
{
    (void)state;
    assert_true(is_relative_repaired(291));
    assert_false(is_relative_repaired(292));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_attempts),     cmocka_unit_test(factors),       cmocka_unit_test(items_of_lists),
        cmocka_unit_test(proportions),          cmocka_unit_test(small_gains),   cmocka_unit_test(passes),
        cmocka_unit_test(layers_that_are_seen), cmocka_unit_test(equal_classes), cmocka_unit_test(relatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
