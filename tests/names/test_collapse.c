/* SPDX-License-Identifier: MIT
 * Collapsed names stand for exactly the names that they were made of. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "names/collapse.h"
#include "names/patterns.h"

enum { MOST = 4096 };

struct names {
    struct sp_arena arena;
    struct sp_collapse_input input[MOST];
    size_t count;
};

static void add(struct names *names, size_t key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    assert_true(names->count < MOST);
    names->input[names->count++] =
        (struct sp_collapse_input){.name = sp_arena_vprintf(&names->arena, format, args), .key = key};
    va_end(args);
}

/* "NAME xCOUNT" of each group, joined by blanks. */
static void assert_collapses(struct names *names, const char *expected)
{
    struct sp_collapsed *groups;
    struct sp_text text = {0};
    const size_t count = sp_collapse(&names->arena, NULL, names->input, names->count, &groups);
    sp_text_puts(&text, "");
    for (size_t i = 0; i < count; i++)
        sp_text_printf(&text, "%s%s x%zu", i ? " " : "", groups[i].name, groups[i].count);
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
    sp_arena_free(&names->arena);
    names->count = 0;
}

static void runs_and_holes(void **state)
{
    struct names names = {0};
    (void)state;
    assert_collapses(&names, "");
    add(&names, 0, "a.7.b");
    assert_collapses(&names, "a.7.b x1");
    for (int i = 0; i < 32; i++)
        if (i < 5 || i > 19) add(&names, 0, "layers.%d.mlp.up_proj.weight", i);
    assert_collapses(&names, "layers.{0-4,20-31}.mlp.up_proj.weight x17");
    add(&names, 0, "h.0");
    add(&names, 0, "h.1");
    add(&names, 0, "h.3");
    assert_collapses(&names, "h.{0,1,3} x3");
}

static void several_indices(void **state)
{
    struct names names = {0};
    (void)state;
    for (int layer = 0; layer < 3; layer++)
        for (int expert = 0; expert < 8; expert++) add(&names, 0, "l.%d.e.%d.w", layer, expert);
    assert_collapses(&names, "l.{0-2}.e.{0-7}.w x24");
    for (int layer = 0; layer < 3; layer++)
        for (int expert = 0; expert < 8; expert++)
            if (layer != 1 || expert != 5) add(&names, 0, "l.%d.e.%d.w", layer, expert);
    assert_collapses(&names, "l.{0,2}.e.{0-7}.w x16 l.1.e.{0-4,6,7}.w x7");
    for (int i = 0; i < 3; i++) add(&names, 0, "l.%d.e.%d.w", i, i);
    assert_collapses(&names, "l.0.e.0.w x1 l.1.e.1.w x1 l.2.e.2.w x1");
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            for (int c = 0; c < 2; c++) add(&names, 0, "%d/%d/%d", a, b, c);
    assert_collapses(&names, "{0,1}/{0,1}/{0,1} x8");
}

static void what_is_an_index(void **state)
{
    struct names names = {0};
    (void)state;
    add(&names, 0, "a.w1.b");
    add(&names, 0, "a.w2.b");
    assert_collapses(&names, "a.w1.b x1 a.w2.b x1");
    add(&names, 0, "a.00.b");
    add(&names, 0, "a.01.b");
    add(&names, 0, "a.0.b");
    add(&names, 0, "a.1.b");
    assert_collapses(&names, "a.00.b x1 a.01.b x1 a.{0,1}.b x2");
    add(&names, 0, "a.999999999999999998");
    add(&names, 0, "a.999999999999999999");
    add(&names, 0, "a.1000000000000000000");
    add(&names, 0, "a.1000000000000000001");
    assert_collapses(&names, "a.{999999999999999998,999999999999999999} x2 a.1000000000000000000 x1 "
                             "a.1000000000000000001 x1");
    add(&names, 0, "");
    add(&names, 0, "7");
    add(&names, 0, "8");
    add(&names, 0, "..9");
    assert_collapses(&names, " x1 {7,8} x2 ..9 x1");
    add(&names, 0, "encoder_transformer_0_ff_weight");
    add(&names, 0, "encoder_transformer_1_ff_weight");
    add(&names, 0, "dense/dense_1/kernel");
    add(&names, 0, "dense/dense_2/kernel");
    add(&names, 0, "h.0_a");
    add(&names, 0, "h.0a");
    assert_collapses(&names, "encoder_transformer_{0,1}_ff_weight x2 dense/dense_{1,2}/kernel x2 h.0_a x1 h.0a x1");
    add(&names, 0, "1.2.3.4.5.6.7.8");
    add(&names, 0, "1.2.3.4.5.6.7.9");
    assert_collapses(&names, "1.2.3.4.5.6.7.{8,9} x2");
    add(&names, 0, "1.2.3.4.5.6.7.8.9.10");
    add(&names, 0, "1.2.3.4.5.6.7.8.9.11");
    assert_collapses(&names, "1.2.3.4.5.6.7.8.9.10 x1 1.2.3.4.5.6.7.8.9.11 x1"); /* eight indices, no more */
}

/* Braces of the names themselves are taken for nothing else. */
static void names_with_braces(void **state)
{
    struct names names = {0};
    (void)state;
    add(&names, 0, "a.{}.0");
    add(&names, 0, "a.0.{}");
    add(&names, 0, "a.{}.1");
    assert_collapses(&names, "a.{}.{0,1} x2 a.0.{} x1");
}

static void keys_are_kept_apart(void **state)
{
    struct names names = {0};
    (void)state;
    for (int i = 0; i < 4; i++) add(&names, i == 2 ? 9 : 0, "a.%d", i);
    assert_collapses(&names, "a.{0,1,3} x3 a.2 x1");
}

/* Groups stand in the order of their first names, whatever the order of the indices. */
static void order_of_groups(void **state)
{
    struct names names = {0};
    struct sp_collapsed *groups;
    (void)state;
    add(&names, 0, "z.2");
    add(&names, 0, "b");
    add(&names, 0, "z.0");
    add(&names, 0, "a.1");
    add(&names, 0, "z.1");
    add(&names, 0, "a.0");
    assert_int_equal(sp_collapse(&names.arena, NULL, names.input, names.count, &groups), 3);
    assert_int_equal(groups[0].first, 0);
    assert_int_equal(groups[2].first, 3);
    assert_collapses(&names, "z.{0-2} x3 b x1 a.{0,1} x2");
}

/* The names that a collapsed form stands for: "{0-2,7}" is 0 1 2 7. Appends each, with ";" behind it. */
static void unfold(const char *head, const char *form, struct sp_text *out)
{
    const char *open = strchr(form, '{');
    if (!open) {
        sp_text_printf(out, "%s%s;", head, form);
        return;
    }
    for (const char *p = open + 1; *p && p[-1] != '}';) {
        char *end, *start;
        const uint64_t first = strtoull(p, &end, 10), last = *end == '-' ? strtoull(end + 1, &end, 10) : first;
        for (uint64_t i = first; i <= last; i++) {
            struct sp_text longer = {0};
            sp_text_printf(&longer, "%s%.*s%" PRIu64, head, (int)(open - form), form, i);
            start = strchr(open, '}') + 1;
            unfold(longer.data, start, out);
            sp_text_free(&longer);
        }
        p = end + 1;
    }
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Random sets of index pairs: the groups, unfolded, are the names again, each once. */
static void unfolding_gives_the_names_back(void **state)
{
    (void)state;
    srand(20240229);
    for (int round = 0; round < 200; round++) {
        struct names names = {0};
        struct sp_collapsed *groups;
        struct sp_text text = {0};
        const int rows = 1 + rand() % 12, columns = 1 + rand() % 12, odds = 1 + rand() % 100;
        for (int i = 0; i < rows * columns; i++)
            if (rand() % 100 < odds) add(&names, 0, "a.%d.b.%d", i / columns, i % columns);
        const size_t count = sp_collapse(&names.arena, NULL, names.input, names.count, &groups);
        size_t total = 0, unfolded = 0;
        sp_text_puts(&text, "");
        for (size_t i = 0; i < count; i++) {
            unfold("", groups[i].name, &text);
            total += groups[i].count;
        }
        assert_int_equal(total, names.count);
        const char *all[MOST], *wanted[MOST];
        for (char *p = text.data; *p; p = strchr(p, '\0') + 1) {
            all[unfolded++] = p;
            *strchr(p, ';') = '\0';
        }
        assert_int_equal(unfolded, names.count);
        for (size_t i = 0; i < names.count; i++) wanted[i] = names.input[i].name;
        qsort(all, unfolded, sizeof *all, compare_texts);
        qsort(wanted, names.count, sizeof *wanted, compare_texts);
        for (size_t i = 0; i < names.count; i++) assert_string_equal(all[i], wanted[i]);
        sp_text_free(&text);
        sp_arena_free(&names.arena);
    }
}

static void patterns(void **state)
{
    struct sp_patterns set = {0};
    struct sp_arena arena = {0};
    struct sp_indices indices;
    (void)state;
    const size_t a = sp_pattern_of(&set, "layers.3.experts.12.w", &indices);
    assert_int_equal(indices.count, 2);
    assert_int_equal(indices.value[0], 3);
    assert_int_equal(indices.value[1], 12);
    assert_int_equal(sp_pattern_of(&set, "layers.4.experts.0.w", NULL), a);
    assert_int_not_equal(sp_pattern_of(&set, "layers.{}.experts.{}.w", NULL), a);
    assert_int_not_equal(sp_pattern_of(&set, "layers.4.experts.w", NULL), a);
    assert_string_equal(sp_pattern_shown(&arena, sp_pattern_text(&set, a)), "layers.{}.experts.{}.w");
    sp_patterns_free(&set);
    sp_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_holes),
        cmocka_unit_test(several_indices),
        cmocka_unit_test(what_is_an_index),
        cmocka_unit_test(names_with_braces),
        cmocka_unit_test(keys_are_kept_apart),
        cmocka_unit_test(order_of_groups),
        cmocka_unit_test(unfolding_gives_the_names_back),
        cmocka_unit_test(patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
